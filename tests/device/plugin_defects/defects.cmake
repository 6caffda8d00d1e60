# One line of the example plug-in each, and what it becomes.
set(plugin_defects scale_floor scale_shifted tail_written rope_shifted stride_assumed minus_one_stored)

# The scale's power of two is rounded down.
set(from_scale_floor [[return exponent + (ratio > std::ldexp(1.0f, exponent) ? 1 : 0);]])
set(to_scale_floor [[return exponent;]])

# A token's scale bytes go to the next slot.
set(from_scale_shifted [[page_size * 576 + slot * 8;]])
set(to_scale_shifted [[page_size * 576 + slot * 8 + 8;]])

# Where a page has a tail, its first byte is cleared.
set(from_tail_written [[index / page_size * page_stride, index % page_size);]])
set(to_tail_written
    [[index / page_size * page_stride, index % page_size);
    if (call->layout == KVPROOF_LAYOUT_FLASHMLA && page_stride > 584 * page_size)
      static_cast<Bytes>(call->cache)[index / page_size * page_stride + 584 * page_size] = 0;]])

# The rope starts one value early.
set(from_rope_shifted [[row + 448 * 2, 64 * 2);]])
set(to_rope_shifted [[row + 447 * 2, 64 * 2);]])

# Pages are taken to follow one another without a tail.
set(from_stride_assumed [[page_stride = call->page_stride;]])
set(to_stride_assumed
    [[page_stride = call->layout == KVPROOF_LAYOUT_FLASHMLA ? 584 * page_size : call->page_stride;]])

# -1 is split by shift and mask: the last slot of page -1.
set(from_minus_one_stored [[if (index < 0 || index >= call->pages * page_size) continue;]])
set(to_minus_one_stored
    [[if (index == -1) place(page_size, row, static_cast<Bytes>(call->cache) - page_stride, page_size - 1);
    if (index < 0 || index >= call->pages * page_size) continue;]])
