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
		"*",
		"comment.*", "comment.created",
		"deployment.*", "deployment.completed",
		"file.*", "file.created", "file.deleted", "file.updated",
		"member.*", "member.added", "member.removed",
		"project.*", "project.created", "project.deleted", "project.deployed", "project.updated",
	}
	if diff := cmp.Diff(want, event.Subscribable()); diff != "" {
		t.Errorf("Subscribable (-want +got):\n%s", diff)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	types := allTypes()
	invalid := []string{
		"", "**", "project", "project.", "project.c*", "PROJECT.*", "*.created", "webhook.*", "webhook.test", ".*", "none.*",
	}
	for _, pattern := range append(event.Subscribable(), invalid...) {
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
			t.Errorf("types that %q matches (-want +got):\n%s", pattern, diff)
		}
	}
	// A later version of the service may have stored events of types that this version does not know.
	for pattern, want := range map[string]bool{
		"*": true, "project.*": true, "file.*": false, "project.renamed": false,
	} {
		if got := event.Matches(pattern, "project.renamed"); got != want {
			t.Errorf("pattern %q and an unknown type: got %v, want %v", pattern, got, want)
		}
	}
}
