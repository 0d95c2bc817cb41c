package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck counts what a template holds, and names what is wrong with it; filter patterns included.
func TestCheck(t *testing.T) {
	t.Parallel()
	template := strings.Replace(triggered, "%s", "http://localhost", 1)
	for _, tc := range []struct{ name, template, out, err string }{
		{"sound", template, ": 2 functions, 1 routes, 2 event source mappings, 0 schedules, 1 tables, 0 queues, 0 buckets, 0 secrets: the local platform can run it\n", ""},
		{"queues", strings.Replace(queued, "%s", "http://localhost", 1), ": 1 functions, 0 routes, 2 event source mappings, 2 schedules, 1 tables, 3 queues, 0 buckets, 0 secrets: the local platform can run it\n", ""},
		{"broken expression", strings.Replace(queued, "rate(1 day)", "rate(1 fortnight)", 1), "", ":20: Worker: Properties.Events.Clock.Properties.ScheduleExpression: "},
		{
			"broken pattern", strings.Replace(template, "anything-but", "nothing-but", 1), "",
			":25: Reader: Properties.Events.Table.Properties.FilterCriteria.Filters[0].Pattern: filter pattern: dynamodb.Keys.pk.S",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "template.yaml")
			if err := os.WriteFile(path, []byte(tc.template), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			err := check(t.Context(), []string{path}, &stdout, &stderr)
			if tc.err == "" {
				if err != nil || stdout.String() != path+tc.out {
					t.Errorf("%v, %s", err, &stdout)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), path+tc.err) || stdout.Len() > 0 {
				t.Errorf("%v, %s\nwant %s", err, &stdout, path+tc.err)
			}
		})
	}
}
