package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// check counts the resources of a template, or reports its problems with their lines.
func TestCheck(t *testing.T) {
	t.Parallel()
	const counts = ": 3 functions, 2 routes, 2 event source mappings, 1 schedules, 1 tables, 1 queues, 0 buckets, 0 secrets: " +
		"the local platform can run it\n"
	for name, tc := range map[string]struct{ template, out, err string }{
		"valid": {shop, counts, ""},
		"two APIs of the same kind": {
			strings.Replace(shop, "Domain: {", "Other: {Type: AWS::Serverless::Api, Properties: {StageName: b}}\n  Domain: {", 1),
			"", ": the local platform runs one API, and one API with a wildcard domain",
		},
		"expression": {strings.Replace(shop, "rate(1 day)", "rate(1 fortnight)", 1), "", ":24: Worker: Properties.Events.Clock.Properties.ScheduleExpression: "},
		"pattern": {
			strings.Replace(shop, "BisectBatch", `FilterCriteria: {Filters: [{Pattern: '{"dynamodb":{"Keys":{"pk":{"S":[{"nothing-but":"a"}]}}}}'}]}, BisectBatch`, 1),
			"", ":23: Worker: Properties.Events.Table.Properties.FilterCriteria.Filters[0].Pattern: filter pattern: .dynamodb.Keys.pk.S",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "template.yaml")
			for name, content := range map[string]string{"template.yaml": tc.template, "go.mod": "module shop\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			err := check(t.Context(), []string{path}, &stdout, &stderr)
			if tc.err == "" && (err != nil || stdout.String() != path+tc.out) {
				t.Errorf("got %s, error %v, want %s", &stdout, err, path+tc.out)
			}
			if tc.err != "" && (!strings.HasPrefix(message(err), path+tc.err) || stdout.Len() > 0) {
				t.Errorf("got %s, error %v, want %s", &stdout, err, path+tc.err)
			}
		})
	}
}

// check reports functions whose binaries would have the same name.
func TestCheckSources(t *testing.T) {
	t.Parallel()
	template := strings.Replace(shop, "Properties: {Environment", "Properties: {CodeUri: g/f, Environment", 1)
	path := filepath.Join(t.TempDir(), "template.yaml")
	if err := os.WriteFile(path, []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	err := message(check(t.Context(), []string{path}, io.Discard, io.Discard))
	if want := "Docs: CodeUri g/f and f have the same last element"; !strings.Contains(err, want) {
		t.Errorf("got the error %s, want %s", err, want)
	}
}
