// Package platformtest starts the whole product for tests: the local platform as a process of its own with the real binaries of the
// functions behind it, and a client in front that keeps cookies and holds every answer against the OpenAPI document. What a test
// does with them, and what it expects, is the test's own business. Only tests of packages directly below infra import this package.
package platformtest
