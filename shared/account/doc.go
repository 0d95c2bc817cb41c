// Package account contains users and their authentication: sign-up, passwords, sessions, sign-in with a code host, and
// the rate limits of attempts.
//
// Calls run in one direction: the HTTP handlers in http*.go call the exported methods of Service, which decide with
// pure functions and call the store. Only store*.go files use DynamoDB. Package oauth talks to the code host.
//
// The package must not contain projects or workspaces, except for the personal workspace that a sign-up creates. It
// must not depend on Lambda or read the environment.
package account
