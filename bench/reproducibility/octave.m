% Results of Octave, a line each: a name and all digits.
rand("seed", 1); n = 100003; k = 1:n;
x = sin(k)'; y = cos(3 * k)'; A = reshape(x(1:90000), 300, 300); b = y(1:300);
function show(name, v) printf("%s %s\n", name, strrep(num2hex(v(:))'(:)', " ", "")); end
show("x'*y", x' * y); show("x'*x", x' * x); show("norm", norm(x)); show("single", single(x)' * single(y));
show("A*b", A * b); show("A'*b", A' * b);
P = gallery("poisson", 60); f = y(1:3600);
[z, flag] = pcg(P, f, 1e-8, 500); show("pcg", z);
[z, flag] = pcg(P, f, 1e-8, 500, diag(diag(P))); show("pcg,Jacobi", z);
[z, flag] = bicg(P, f, 1e-8, 500); show("bicg", z); [z, flag] = qmr(P, f, 1e-8, 500); show("qmr", z);
[z, flag] = bicgstab(P, f, 1e-8, 500); show("bicgstab", z);
[z, flag] = gmres(P, f, [], 1e-8, 60); show("gmres", z);
A += 300 * eye(300); show("A\\b", A \ b); show("svd", svd(A));
