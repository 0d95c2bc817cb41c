// Package platformtest starts the whole product for tests: the local platform as a separate process, which runs the
// binaries of the functions. It also contains an HTTP client with cookies, which checks every response against the
// OpenAPI document, and short forms of common requests. It contains no expectations about the product. Only tests of
// packages directly below infra import it.
package platformtest
