#include "launch_cuda.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "cuda_status.h"

namespace kvproof {
namespace {

class SecondStream {
 public:
  SecondStream() { require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~SecondStream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  SecondStream(const SecondStream&) = delete;
  SecondStream& operator=(const SecondStream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Holds streams back until it is opened. A kernel under test that waits for its own stream would wait for ever, so the gate
// opens by itself after a while.
class Gate {
 public:
  Gate(cudaStream_t first, cudaStream_t second) : first_(first) {
    require_cuda(cudaEventCreateWithFlags(&passed_, cudaEventDisableTiming), "cudaEventCreate");
    require_cuda(cudaLaunchHostFunc(first, wait, &open_), "cudaLaunchHostFunc");
    require_cuda(cudaEventRecord(passed_, first), "cudaEventRecord");
    require_cuda(cudaStreamWaitEvent(second, passed_, 0), "cudaStreamWaitEvent");
  }
  ~Gate() {
    open();
    cudaStreamSynchronize(first_);  // nobody waits at a gate that is gone
    cudaEventDestroy(passed_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() { open_.store(true, std::memory_order_release); }

 private:
  static constexpr std::chrono::milliseconds patience{2};

  static void CUDART_CB wait(void* open) {
    const auto& opened = *static_cast<std::atomic<bool>*>(open);
    const auto stop = std::chrono::steady_clock::now() + patience;
    while (!opened.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < stop) {
      std::this_thread::yield();
    }
  }

  cudaStream_t first_;
  cudaEvent_t passed_ = nullptr;
  std::atomic<bool> open_{false};
};

// A capture that ends with its scope, however that is left.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  ~Capture() {
    end();
    if (graph_ != nullptr) {
      cudaGraphDestroy(graph_);
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Why there is no graph, or success.
  cudaError_t end() {
    if (!ended_) {
      ended_ = true;
      status_ = cudaStreamEndCapture(stream_, &graph_);
      cudaGetLastError();  // what broke a capture leaves an error behind that is nobody else's
    }
    return status_;
  }
  cudaGraph_t graph() const { return graph_; }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaError_t status_ = cudaSuccess;
  bool ended_ = false;
};

class ExecutableGraph {
 public:
  explicit ExecutableGraph(cudaGraph_t graph) {
    require_cuda(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
  }
  ~ExecutableGraph() { cudaGraphExecDestroy(graph_); }
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;

  void launch(cudaStream_t stream) const { require_cuda(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

void launch_captured(const Subject& subject, const std::vector<kvproof_store_call>& calls, void* stream,
                     const std::function<void()>& afresh, Answers& answers) {
  auto* const on = static_cast<cudaStream_t>(stream);
  require_cuda(cudaStreamSynchronize(on), "cudaStreamSynchronize");
  Capture capture(on);
  bool went_on = true;
  for (std::size_t step = 0; step < calls.size() && went_on; ++step) {
    went_on = answers.call(subject, calls[step], step);
  }
  if (const cudaError_t status = capture.end(); status != cudaSuccess) {
    answers.fail(std::string("it cannot be captured into a CUDA graph, and does not refuse to be: ") +
                 cudaGetErrorString(status));
    return;
  }
  if (!went_on) {
    return;
  }
  const ExecutableGraph graph(capture.graph());
  for (int launch = 0; launch < 2; ++launch) {
    // What a kernel has done outside of the graph is undone: a later launch would not do it either.
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    afresh();
    graph.launch(on);
  }
}

void launch_on_two_streams(const Subject& subject, const std::vector<kvproof_store_call>& calls, void* stream,
                           Answers& answers) {
  auto* const first = static_cast<cudaStream_t>(stream);
  const SecondStream second;
  {
    Gate gate(first, second.get());
    for (std::size_t step = 0; step < calls.size(); ++step) {
      kvproof_store_call call = calls[step];
      call.stream = step % 2 == 0 ? first : second.get();
      if (!answers.call(subject, call, step)) {
        break;
      }
    }
    gate.open();
  }
  require_cuda(cudaStreamSynchronize(second.get()), "cudaStreamSynchronize");
}

}  // namespace kvproof
