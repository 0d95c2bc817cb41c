// Package event defines the domain events: their types, their payload in webhooks and in the feed, and the outbox item
// that stores an event in the transaction of the change that it reports. Other packages deliver the events.
package event

import (
	"maps"
	"slices"
	"strings"
)

// Type is a type of event.
type Type string

// The types of events.
const (
	ProjectCreated      Type = "project.created"
	ProjectUpdated      Type = "project.updated"
	ProjectDeleted      Type = "project.deleted"
	ProjectDeployed     Type = "project.deployed"
	FileCreated         Type = "file.created"
	FileUpdated         Type = "file.updated"
	FileDeleted         Type = "file.deleted"
	MemberAdded         Type = "member.added"
	MemberRemoved       Type = "member.removed"
	CommentCreated      Type = "comment.created"
	DeploymentCompleted Type = "deployment.completed"
	WebhookTest         Type = "webhook.test"
)

// types contains a function for each type, which reports whether data contains the subject of events of the type.
var types = map[Type]func(Data) bool{
	ProjectCreated:      hasProject,
	ProjectUpdated:      func(d Data) bool { return hasProject(d) && len(d.Changes) > 0 },
	ProjectDeleted:      hasProject,
	ProjectDeployed:     func(d Data) bool { return hasDeployment(d) && d.Reason != "" },
	FileCreated:         hasFile,
	FileUpdated:         hasFile,
	FileDeleted:         hasFile,
	MemberAdded:         hasMember,
	MemberRemoved:       hasMember,
	CommentCreated:      func(d Data) bool { return hasProject(d) && d.Comment != nil },
	DeploymentCompleted: hasDeployment,
	WebhookTest:         func(d Data) bool { return d.Webhook != nil },
}

func hasProject(d Data) bool { return d.Project != nil }

func hasFile(d Data) bool { return hasProject(d) && d.File != nil }

func hasMember(d Data) bool { return d.Workspace != nil && d.Member != nil }

func hasDeployment(d Data) bool { return hasProject(d) && d.Deployment != nil }

// accepts reports whether data contains an actor and the subject that events of the type have.
func (t Type) accepts(d Data) bool {
	hasSubject, ok := types[t]
	return ok && hasSubject(d) && d.Actor != (Actor{})
}

// Everything is the pattern that matches all events.
const Everything = "*"

// groupSuffix is the end of the pattern of a group: project.* matches all types that begin with "project.".
const groupSuffix = ".*"

var subscribable = patterns()

func patterns() map[string]bool {
	all := map[string]bool{Everything: true}
	for t := range types {
		if t != WebhookTest { // it is only sent to test a webhook
			group, _, _ := strings.Cut(string(t), ".")
			all[string(t)], all[group+groupSuffix] = true, true
		}
	}
	return all
}

// Subscribable returns the patterns that a webhook can subscribe to, sorted: the types of events, their
// groups, and Everything.
func Subscribable() []string { return slices.Sorted(maps.Keys(subscribable)) }

// Matches reports whether a subscription to a pattern includes events of a type. A pattern that Subscribable does not
// return matches no type. A type that only a later version of the code knows matches Everything and the pattern of its
// group.
func Matches(pattern string, t Type) bool {
	if !subscribable[pattern] || t == WebhookTest {
		return false
	}
	if group, ok := strings.CutSuffix(pattern, groupSuffix); ok {
		return strings.HasPrefix(string(t), group+".")
	}
	return pattern == Everything || pattern == string(t)
}
