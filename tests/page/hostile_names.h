// SPDX-License-Identifier: Apache-2.0
//
// Names that a page or a figure must show as they are and never obey. Those with a number would set
// window.harmed to it.
#ifndef GPUBOUND_TESTS_PAGE_HOSTILE_NAMES_H_
#define GPUBOUND_TESTS_PAGE_HOSTILE_NAMES_H_

namespace gpubound {

inline constexpr char kHostileOperation[] = "</script><img src=x onerror=window.harmed=1>";
// Turns the direction of what follows it, where it gets that far.
inline constexpr char kReversingOperation[] = "step\xe2\x80\xaegnp.exe";
// 200 letters and no place to break them.
inline constexpr char kLongOperation[] =
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"
    "WWWWWW"
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
    "mmmmmm";
inline constexpr char kHostileKernel[] = "<svg onload=window.harmed=2>&lt;T&gt;";
inline constexpr char kHostileProcess[] = "<!--<script>window.harmed=3</script>";
inline constexpr char kHostileDevice[] = "\"'><b onclick=window.harmed=4>GPU</b>";
inline constexpr char kHostileRun[] = "<style>*{display:none}<!--.gpubound";
inline constexpr char kHostileKey[] = "javascript:window.harmed=5";
inline constexpr char kHostileValue[] = "<iframe srcdoc='<script>parent.harmed=6</script>'>";

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PAGE_HOSTILE_NAMES_H_
