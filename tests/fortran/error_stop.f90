! Without stat a failure ends the program with its message.
program error_stop
  use tally
  implicit none
  real :: x(5) = 1, y(4) = 1, r
  r = tally_dot(x, y)
  print *, 'it goes on', r
end program
