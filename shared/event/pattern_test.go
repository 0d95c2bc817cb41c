package event_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/event"
)

func TestSubscribable(t *testing.T) {
	t.Parallel()
	want := []string{
		"*", "comment.*", "comment.created", "deployment.*", "deployment.completed", "file.*", "file.created", "file.deleted", "file.updated",
		"member.*", "member.added", "member.removed", "project.*", "project.created", "project.deleted", "project.deployed", "project.updated",
	}
	if diff := cmp.Diff(want, event.Subscribable()); diff != "" {
		t.Error(diff)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	types := allTypes()
	for _, pattern := range append(event.Subscribable(), "", "**", "project", "project.", "project.c*", "PROJECT.*", "*.created", "webhook.*", "webhook.test", ".*", "none.*") {
		var want []string
		if slices.Contains(event.Subscribable(), pattern) {
			for _, kind := range types {
				group, _, _ := strings.Cut(kind, ".")
				if group != "webhook" && (pattern == "*" || pattern == kind || pattern == group+".*") {
					want = append(want, kind)
				}
			}
		}
		var got []string
		for _, kind := range types {
			if event.Matches(pattern, event.Type(kind)) {
				got = append(got, kind)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", pattern, diff)
		}
	}
	// A later version of the service may have stored events of other types.
	if later := event.Type("project.renamed"); !event.Matches("*", later) || !event.Matches("project.*", later) || event.Matches("file.*", later) || event.Matches("project.renamed", later) {
		t.Error("an unknown type must match its group, and must not match its own name")
	}
}
