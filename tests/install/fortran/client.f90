! A client of the module.
program client
  use tally
  implicit none
  real(kind(1d0)) :: x(100), y(10, 10), r
  x = 0.1d0
  y = 3
  r = tally_dot(x, y, grade=TALLY_GRADE_EXACT)
  call tally_axpy(2, x(1:100:2), y(:, 1:5))
  print *, r, tally_sum(y), tally_executor_name(tally_simd())
  if (r /= 30 .or. any(y(:, 1:5) /= 3 + 2 * 0.1d0) .or. any(y(:, 6:) /= 3)) error stop
end program
