#include "worker_messages.h"

#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

// A new member must be sent too.
static_assert(sizeof(Case) ==
              sizeof(StoreShape) + sizeof(std::vector<std::uint8_t>) + sizeof(std::vector<std::int64_t>) + 8);
static_assert(sizeof(Dialect) == 15 * 4);

template <class Enum>
void require_known(Enum value) {
  if (static_cast<std::size_t>(value) >= Names<Enum>::values.size()) {
    throw BadMessage("a choice out of range");
  }
}

template <class Enum>
std::vector<Enum> read_choices(MessageReader& from) {
  std::vector<Enum> all = from.values<Enum>();
  for (const Enum one : all) {
    require_known(one);
  }
  return all;
}

Dialect read_dialect(MessageReader& from) {
  const auto d = from.value<Dialect>();
  require_known(d.layout);
  require_known(d.floor);
  require_known(d.ratio);
  require_known(d.scale);
  require_known(d.quantise);
  require_known(d.pad);
  require_known(d.invalid);
  require_known(d.division);
  require_known(d.index_width);
  require_known(d.offset_width);
  require_known(d.nan);
  require_known(d.infinity);
  return d;
}

std::vector<WrongByte> read_wrong(MessageReader& from) {
  std::vector<WrongByte> all = from.values<WrongByte>();
  for (const WrongByte& one : all) {
    if (one.area > Area::guard_after_indices || one.wrong > Wrong::stray || one.place.region > Region::tail) {
      throw BadMessage("a choice out of range");
    }
  }
  return all;
}

}  // namespace

void write(MessageWriter& to, const KernelSource& source) {
  to.text(source.file);
  to.text(source.device);
}

KernelSource read_source(MessageReader& from) {
  KernelSource source;
  source.file = from.text();
  source.device = from.text();
  return source;
}

void write(MessageWriter& to, const std::vector<Subject>& subjects) {
  to.value(static_cast<std::uint64_t>(subjects.size()));
  for (const Subject& s : subjects) {
    to.text(s.name);
    to.text(s.origin);
    to.text(s.dialect_name);
    to.value(s.dialect);
    to.values(s.input_types);
    to.values(s.index_types);
    to.values(s.fp8_types);
    to.values(s.page_sizes);
    to.value(s.duplicates);
    to.value(s.memory);
  }
}

std::vector<Subject> read_subjects(MessageReader& from) {
  std::vector<Subject> subjects(from.count(1));
  for (Subject& s : subjects) {
    s.name = from.text();
    s.origin = from.text();
    s.dialect_name = from.text();
    s.dialect = read_dialect(from);
    s.input_types = read_choices<ElementType>(from);
    s.index_types = read_choices<IndexType>(from);
    s.fp8_types = read_choices<Fp8>(from);
    s.page_sizes = from.values<std::int64_t>();
    s.duplicates = from.choice(Duplicates::byte);
    s.memory = from.choice(MemoryKind::own);
  }
  return subjects;
}

void write(MessageWriter& to, const Case& c) {
  to.value(c.shape);
  to.values(c.input);
  to.values(c.indices);
  to.value(c.poison_seed);
}

Case read_case(MessageReader& from) {
  Case c;
  c.shape = from.value<StoreShape>();
  c.input = from.values<std::uint8_t>();
  c.indices = from.values<std::int64_t>();
  c.poison_seed = from.value<std::uint64_t>();
  return c;
}

void write(MessageWriter& to, const std::optional<Loosened>& loosened) {
  to.value(static_cast<std::uint32_t>(loosened.has_value()));
  if (loosened) {
    to.value(loosened->which);
    to.value(loosened->flush);
  }
}

std::optional<Loosened> read_loosened(MessageReader& from) {
  if (from.value<std::uint32_t>() == 0) {
    return std::nullopt;
  }
  const Given which = from.choice(Given::indices);
  return Loosened{which, from.choice(Placement::start_flush)};
}

void write(MessageWriter& to, const CaseOutcome& outcome) {
  to.value(static_cast<std::uint32_t>(outcome.refused));
  to.value(static_cast<std::uint32_t>(outcome.exercised));
  to.text(outcome.refusal);
  to.value(outcome.codes);
  to.value(outcome.bytes);
  to.value(outcome.explained);
  to.text(outcome.explained_example);
  to.value(static_cast<std::uint32_t>(outcome.breach.has_value()));
  if (outcome.breach) {
    to.text(outcome.breach->summary);
    to.value(static_cast<std::uint64_t>(outcome.breach->places.size()));
    for (const std::string& place : outcome.breach->places) {
      to.text(place);
    }
    to.values(outcome.breach->wrong);
    to.value(static_cast<std::uint32_t>(outcome.breach->ended));
  }
}

CaseOutcome read_outcome(MessageReader& from) {
  CaseOutcome outcome;
  outcome.refused = from.value<std::uint32_t>() != 0;
  outcome.exercised = from.value<std::uint32_t>() != 0;
  outcome.refusal = from.text();
  outcome.codes = from.value<std::int64_t>();
  outcome.bytes = from.value<std::int64_t>();
  outcome.explained = from.value<std::int64_t>();
  outcome.explained_example = from.text();
  if (from.value<std::uint32_t>() != 0) {
    Breach& breach = outcome.breach.emplace();
    breach.summary = from.text();
    breach.places.resize(from.count(8));
    for (std::string& place : breach.places) {
      place = from.text();
    }
    breach.wrong = read_wrong(from);
    breach.ended = from.value<std::uint32_t>() != 0;
  }
  return outcome;
}

void write(MessageWriter& to, const ProofQuestion& question) { to.value(question); }

ProofQuestion read_proof_question(MessageReader& from) {
  const auto question = from.value<ProofQuestion>();
  require_known(question.input);
  require_known(question.fp8);
  require_known(question.index.value_or(IndexType::int32));
  if (question.domain > Domain::pairs || question.first < 0 || question.last < question.first || question.pages.size < 1 ||
      question.pages.stride < 1 || question.rows_a_call < 1) {
    throw BadMessage("a choice out of range");
  }
  return question;
}

void write(MessageWriter& to, const ProofAnswer& answer) {
  for (const std::int64_t number : {answer.pairs, answer.codes, answer.bytes, answer.refused, answer.wrong_rows,
                                    answer.wrong_bytes, answer.first_wrong, answer.explained, answer.explained_row}) {
    to.value(number);
  }
  to.text(answer.refusal);
  to.value(answer.index_type);
  to.value(answer.found);
  to.value(answer.explained_found);
  to.value(static_cast<std::uint32_t>(answer.failure.has_value()));
  to.text(answer.failure.value_or(""));
}

ProofAnswer read_proof_answer(MessageReader& from) {
  ProofAnswer answer;
  for (std::int64_t* number : {&answer.pairs, &answer.codes, &answer.bytes, &answer.refused, &answer.wrong_rows,
                               &answer.wrong_bytes, &answer.first_wrong, &answer.explained, &answer.explained_row}) {
    *number = from.value<std::int64_t>();
  }
  answer.refusal = from.text();
  answer.index_type = from.choice(IndexType::int64);
  answer.found = from.value<RowImage>();
  answer.explained_found = from.value<RowImage>();
  const bool failed = from.value<std::uint32_t>() != 0;
  const std::string failure = from.text();
  if (failed) {
    answer.failure = failure;
  }
  return answer;
}

}  // namespace kvproof
