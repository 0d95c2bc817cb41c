package templatetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "devplatform/infra/templatetest"
)

// read returns the content of a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// alarmRow matches a row of the tables of alarms: the names, and the severity or the composite alarm that sends the
// message.
var alarmRow = regexp.MustCompile("(?m)^\\| (`[A-Za-z]+Alarm`[^|]*) \\| ([^|]*) \\| [^|]+ \\| [^|]+ \\|$")

// TestAlarmsAreDescribed checks that infra/ALARMS.md describes every alarm and no others, with its severity. An alarm
// that sends no messages has the name of its composite alarm instead. Exactly the alarms that roll back a deployment
// must have the mark ↺.
func TestAlarmsAreDescribed(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	rollsBack := map[string]bool{}
	for _, id := range resourcesOf(tpl, "AWS::Serverless::Function") {
		for _, alarm := range List(At(tpl.Resources[id].Properties, "DeploymentPreference", "Alarms")) {
			rollsBack[Name(alarm)] = true
		}
	}
	want := map[string]string{} // the columns, by alarm
	for _, id := range append(resourcesOf(tpl, alarmType), resourcesOf(tpl, compositeType)...) {
		severity := severityOf(tpl.Resources[id])
		if parents := parentsOf(tpl, id); severity == "" && len(parents) > 0 {
			severity = "`" + parents[0] + "`"
		}
		want[id] = severity
		if rollsBack[id] {
			want[id] += " ↺"
		}
	}
	got := map[string]string{}
	for _, row := range alarmRow.FindAllStringSubmatch(read(t, "infra/ALARMS.md"), -1) {
		for _, name := range strings.Split(row[1], ", ") {
			name, mark, _ := strings.Cut(strings.TrimPrefix(name, "`"), "`")
			got[name] = row[2] + mark
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the alarms of the template (-) and of infra/ALARMS.md (+) differ:\n%s", diff)
	}
}

// auditTable is the table of the acts of operators, who see errors themselves. No function uses it.
const auditTable = "AuditTable"

// TestThrottlingIsNoticed checks that alarms watch the throttled reads and writes of every table and of every index.
// The metrics of a table do not include the metrics of its indexes.
func TestThrottlingIsNoticed(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	watched := map[string]bool{}
	for _, metrics := range alarmMetrics(tpl) {
		for _, m := range metrics {
			watched[m.name+" "+m.dimensions["TableName"]+" "+m.dimensions["GlobalSecondaryIndexName"]] = true
		}
	}
	for _, table := range resourcesOf(tpl, "AWS::DynamoDB::Table") {
		if table == auditTable {
			continue
		}
		indexes := []string{""}
		for _, index := range List(tpl.Resources[table].Properties["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, Name(At(index, "IndexName")))
		}
		for _, index := range indexes {
			for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
				if !watched[name+" "+table+" "+index] {
					t.Errorf("no alarm watches %s of %s, index %q", name, table, index)
				}
			}
		}
	}
}

// TestProviderBlocksNoDeployment checks that alarms that stop a deployment subtract the failures of the model provider.
// A deployment that selects another model must be possible while the provider fails.
func TestProviderBlocksNoDeployment(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	for alarm, want := range map[string]struct{ all, provider string }{
		"GatewayErrorsAlarm": {"errors", "AiProviderErrors"},
		"AiFaultsAlarm":      {"faults", "AiProviderFaults"},
	} {
		var expression, subtracted string
		for _, metric := range List(tpl.Resources[alarm].Properties["Metrics"]) {
			if text, ok := At(metric, "Expression").(string); ok {
				expression = text
			}
			if Name(At(metric, "Id")) == "provider" {
				subtracted = Name(At(metric, "MetricStat", "Metric", "MetricName"))
			}
		}
		difference := want.all + " - FILL(provider, 0)"
		if rest := strings.ReplaceAll(expression, difference, ""); subtracted != want.provider ||
			!strings.Contains(expression, difference) || strings.Contains(rest, want.all) {
			t.Errorf("%s: got the expression %s with the provider's metric %s, want it to subtract %s",
				alarm, expression, subtracted, want.provider)
		}
	}
	for _, id := range resourcesOf(tpl, "AWS::Serverless::Function") {
		for _, alarm := range List(At(tpl.Resources[id].Properties, "DeploymentPreference", "Alarms")) {
			if Name(alarm) == "AiProviderAlarm" {
				t.Errorf("%s: AiProviderAlarm blocks its deployments", id)
			}
		}
	}
}
