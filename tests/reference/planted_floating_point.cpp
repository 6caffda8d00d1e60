// What no_floating_point.py must find: one function a kind of instruction. It is compiled and never run.
extern "C" {
float planted_multiply(float a, float b) { return a * b; }
double planted_add(double a, double b) { return a + b; }
float planted_divide(float a, float b) { return a / b; }
int planted_compare(float a, float b) { return a < b ? 1 : 0; }
float planted_from_integer(int a) { return static_cast<float>(a); }
int planted_to_integer(double a) { return static_cast<int>(a); }
float planted_narrow(double a) { return static_cast<float>(a); }
void planted_packed(float* a, const float* b) {
  for (int i = 0; i < 1024; ++i) {
    a[i] = a[i] * 3.0F - b[i];
  }
}
long double planted_x87(long double a, long double b) { return a * b; }
}
