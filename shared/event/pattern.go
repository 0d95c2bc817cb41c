package event

import (
	"maps"
	"slices"
	"strings"
)

// Everything is the pattern that matches every event.
const Everything = "*"

// anyOf ends the pattern of a group: project.* are all types that begin with "project.".
const anyOf = ".*"

// subscribable are the patterns that there are.
var subscribable = patterns()

func patterns() map[string]bool {
	all := map[string]bool{Everything: true}
	for _, t := range typesFrom(change, nowhere) {
		group, _, _ := strings.Cut(t, ".")
		all[t], all[group+anyOf] = true, true
	}
	return all
}

// Subscribable are the patterns that a webhook may subscribe to, sorted: the types of events, those that are not emitted yet
// included, their groups, and Everything.
func Subscribable() []string { return slices.Sorted(maps.Keys(subscribable)) }

// Matches reports whether somebody who subscribed to a pattern is told events of a type. A pattern that is none of Subscribable
// matches nothing.
func Matches(pattern string, t Type) bool {
	if !subscribable[pattern] || kinds[t].from == notEvent {
		return false
	}
	if group, ok := strings.CutSuffix(pattern, anyOf); ok {
		return strings.HasPrefix(string(t), group+".")
	}
	return pattern == Everything || pattern == string(t)
}
