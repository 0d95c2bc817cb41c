package provision_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"devplatform/infra/local/provision"
)

// streaming is the template with a stream of its Accounts table.
func streaming(view string) string {
	return strings.Replace(template, "      TimeToLive", "      StreamSpecification: {StreamViewType: "+view+"}\n      TimeToLive", 1)
}

// stream returns the view type of the stream of Accounts and its label, "" if there has never been one.
func (s *services) stream(t *testing.T) (view, label string) {
	t.Helper()
	table := s.describe(t, "local-Accounts")
	if spec := table.StreamSpecification; spec != nil && *spec.StreamEnabled {
		view = string(spec.StreamViewType)
	}
	return view, aws.ToString(table.LatestStreamLabel)
}

func TestTableIsCreatedWithItsStream(t *testing.T) {
	t.Parallel()
	s := start(t)
	made, _ := s.apply(t, streaming("NEW_IMAGE"))
	if !strings.Contains(made, "tables local-Accounts") || strings.Contains(made, "stream") {
		t.Error(made)
	}
	view, _ := s.stream(t)
	equal(t, view, "NEW_IMAGE")
	made, _ = s.apply(t, streaming("NEW_IMAGE"))
	equal(t, made, "everything is there")
}

// TestStreamsFollowTheTemplate starts with a table without a stream.
func TestStreamsFollowTheTemplate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := ""
	for _, step := range []struct {
		template, made, view string
		updates              int
	}{
		{template, "secrets local-Keys; tables local-Accounts, local-Counted; time to live of local-Accounts", "", 0},
		{streaming("NEW_IMAGE"), "secrets local-Keys; streams of local-Accounts", "NEW_IMAGE", 1},
		{streaming("KEYS_ONLY"), "secrets local-Keys; streams of local-Accounts", "KEYS_ONLY", 2},
		{template, "secrets local-Keys; streams of local-Accounts", "", 1},
		{streaming("NEW_AND_OLD_IMAGES"), "secrets local-Keys; streams of local-Accounts", "NEW_AND_OLD_IMAGES", 1},
	} {
		s, stop := startIn(t, dir) // restarts each time; secrets are in memory
		made, _ := s.apply(t, step.template)
		equal(t, made, step.made)
		equal(t, s.counted()["UpdateTable"], step.updates)
		view, label := s.stream(t)
		equal(t, view, step.view)
		if view != "" && label == before {
			t.Errorf("%s: the stream has not been replaced", view)
		}
		before = label
		made, _ = s.apply(t, step.template)
		equal(t, made, "everything is there")
		_, label = s.stream(t)
		equal(t, label, before)
		stop()
	}
}

func TestStreamIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after string }{
		"on":  {template, streaming("KEYS_ONLY")},
		"off": {streaming("NEW_IMAGE"), template},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.apply(t, test.before)
			refuse := func(operation string, _ int, status *int, body []byte) []byte {
				if operation != "UpdateTable" {
					return body
				}
				*status = http.StatusBadRequest
				return []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","message":"no"}`)
			}
			s.during(refuse, func() {
				_, err := provision.Apply(t.Context(), load(t, s, test.after), provision.Options{Endpoint: s.url})
				const want = "provision: table local-Accounts: update the stream: "
				if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "AccessDenied") {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}
