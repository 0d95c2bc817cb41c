// Package account contains users and how they prove who they are: sign-up, passwords, sessions, sign-in with a code
// host, and the limits on attempts.
//
// Calls run in one direction: the HTTP handlers in http*.go call the exported methods of Service, which decide with
// pure functions and call the store. Only store*.go files use DynamoDB. Package oauth talks to the code host.
//
// The package must not contain projects, workspaces other than the personal one that a sign-up creates, Lambda, or
// access to the environment.
package account
