// Package projecttest is the fixture of the tests of projects: the services of projects and files behind an HTTP
// server, with their own DynamoDB and S3, users with sessions, clients of the file endpoints, and the cleanup of
// deleted projects. Helpers that only one package needs belong in that package's tests.
package projecttest
