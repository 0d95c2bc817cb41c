// Package platformtest starts the whole product for tests: the local platform as a separate process, which runs the
// binaries of the functions. It also contains an HTTP client with cookies, which checks every response against the
// OpenAPI document, short forms of common requests, and the list of the documents. It contains no expectations about
// the product. Only tests of infra and of packages directly below it import it.
package platformtest
