// Package e2e tries the whole product as its users meet it: the local platform as a process of its own, the real
// binaries of the functions behind it, and real HTTP clients in front. Only what needs all of that belongs here;
// what a package can prove alone is tested there.
package e2e
