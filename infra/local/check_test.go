package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// check counts the resources of a template, or reports what is wrong with it, with the line.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ template, out, err string }{
		"valid": {shop, ": 3 functions, 2 routes, 2 event source mappings, 1 schedules, 1 tables, 1 queues, 0 buckets, 0 secrets: " +
			"the local platform can run it\n", ""},
		"expression": {strings.Replace(shop, "rate(1 day)", "rate(1 fortnight)", 1), "", ":23: Worker: Properties.Events.Clock.Properties.ScheduleExpression: "},
		"pattern": {
			strings.Replace(shop, "Enabled: false", `FilterCriteria: {Filters: [{Pattern: '{"dynamodb":{"Keys":{"pk":{"S":[{"nothing-but":"a"}]}}}}'}]}`, 1),
			"", ":22: Worker: Properties.Events.Table.Properties.FilterCriteria.Filters[0].Pattern: filter pattern: dynamodb.Keys.pk.S",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "template.yaml")
			if err := os.WriteFile(path, []byte(tc.template), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			err := check(t.Context(), []string{path}, &stdout, &stderr)
			if tc.err == "" && (err != nil || stdout.String() != path+tc.out) {
				t.Errorf("got %s, error %v, want %s", &stdout, err, tc.out)
			}
			if tc.err != "" && (!strings.HasPrefix(message(err), path+tc.err) || stdout.Len() > 0) {
				t.Errorf("got %s, error %v, want %s", &stdout, err, path+tc.err)
			}
		})
	}
}
