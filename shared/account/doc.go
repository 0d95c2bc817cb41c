// Package account holds people and how they prove who they are: users, passwords, sessions, sign-in with a code
// host, and the counters that slow guessing down.
//
// Its files are laid out by what they may touch: rules and types are pure, service files decide and call the store,
// http*.go files turn requests into calls and results into answers, and store*.go files are the only ones that know
// DynamoDB. How a code host is spoken to is the business of the sub-package oauth.
//
// What may not enter: projects, workspaces beyond the one that a sign-up creates, Lambda, and reading the environment.
package account
