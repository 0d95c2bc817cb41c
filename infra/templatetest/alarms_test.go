package templatetest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// runbookRow matches a table row of the runbook whose first column contains names.
var runbookRow = regexp.MustCompile("(?m)^\\| (`[A-Za-z]+`[^|]*) \\|")

// TestAlarmsAreComplete checks that every alarm sends notifications, treats missing data explicitly, and is described
// in the runbook. In the runbook, exactly those alarms that roll back a deployment must have the mark ↺. The runbook
// must not describe alarms that do not exist.
func TestAlarmsAreComplete(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	rollsBack := map[string]bool{}
	for _, id := range resourcesOf(tpl, "AWS::Serverless::Function") {
		for _, alarm := range List(At(tpl.Resources[id].Properties, "DeploymentPreference", "Alarms")) {
			rollsBack[Name(alarm)] = true
		}
	}
	inRunbook := map[string]bool{}
	for _, row := range runbookRow.FindAllStringSubmatch(read(t, "infra/RUNBOOK.md"), -1) {
		for _, name := range strings.Split(row[1], ", ") {
			name, mark, _ := strings.Cut(strings.TrimPrefix(name, "`"), "`")
			if !strings.HasSuffix(name, "Alarm") {
				continue
			}
			inRunbook[name] = true
			if rollsBack[name] != (mark == " ↺") {
				t.Errorf("infra/RUNBOOK.md, %s: got the mark %q, but the alarm rolls back deployments: %v",
					name, mark, rollsBack[name])
			}
		}
	}
	wantActions := parseJSON(t, `{"Fn::If":["MailsAlarms",[{"Ref":"AlarmTopic"}],
		{"Fn::If":["HasAlarmTopic",[{"Ref":"AlarmTopicArn"}],{"Ref":"AWS::NoValue"}]}]}`)
	alarms := resourcesOf(tpl, "AWS::CloudWatch::Alarm")
	for _, id := range alarms {
		p := tpl.Resources[id].Properties
		if !reflect.DeepEqual(p["AlarmActions"], wantActions) {
			t.Errorf("%s: got the alarm actions %v, want %v", id, p["AlarmActions"], wantActions)
		}
		if p["TreatMissingData"] == nil || p["AlarmDescription"] == nil {
			t.Errorf("%s has no TreatMissingData or no AlarmDescription", id)
		}
		if !inRunbook[id] {
			t.Errorf("infra/RUNBOOK.md does not describe %s", id)
		}
		delete(inRunbook, id)
	}
	for id := range inRunbook {
		t.Errorf("infra/RUNBOOK.md describes %s, which does not exist", id)
	}
	if len(alarms) < 25 {
		t.Errorf("found %d alarms, want at least 25", len(alarms))
	}
}

// TestCustomMetricsExist checks that the custom metrics in alarms and in the dashboard exist: a metric filter or the
// code of the webhook delivery, of the builds and of the secrets emits them. Functions that read the key ring, and
// functions that report metrics whose absence is an alarm, must have the namespace. cfn-lint checks the references to
// resources.
func TestCustomMetricsExist(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	emitted := map[string]bool{}
	for _, id := range resourcesOf(tpl, "AWS::Logs::MetricFilter") {
		for _, transformation := range List(tpl.Resources[id].Properties["MetricTransformations"]) {
			emitted[Name(At(transformation, "MetricName"))] = true
		}
	}
	constants := regexp.MustCompile(`metric[A-Z]\w+ += "(\w+)"`)
	code := read(t, "shared/webhook/delivery/metrics.go") + read(t, "shared/deployment/worker/sweep.go") +
		read(t, "shared/config/secrets.go")
	for _, constant := range constants.FindAllStringSubmatch(code, -1) {
		emitted[constant[1]] = true
	}
	for function, resource := range tpl.Resources {
		variables := At(resource.Properties, "Environment", "Variables")
		reports := function == "WebhookRetryFunction" || function == "DeployerFunction" || At(variables, "KEYS_SECRET") != nil
		if reports && Name(At(variables, "METRICS_NAMESPACE")) != "AWS::StackName" {
			t.Errorf("%s has no namespace for its metrics", function)
		}
	}
	for id, metrics := range alarmMetrics(tpl) {
		for _, m := range metrics {
			if m.namespace == "AWS::StackName" && !emitted[m.name] {
				t.Errorf("%s uses the metric %s, which does not exist", id, m.name)
			}
		}
	}
	for api, alarm := range gatewayAlarms {
		want := Name(tpl.Resources[api].Properties["Name"])
		for _, m := range alarmMetrics(tpl)[alarm] {
			if m.namespace == "AWS/ApiGateway" && m.dimensions["ApiName"] != want {
				t.Errorf("%s: got the dimensions %v, want the name of %s, %s", alarm, m.dimensions, api, want)
			}
		}
	}
	for _, metric := range dashboard(t, tpl) {
		if namespace := metric[0]; namespace == "${AWS::StackName}" && !emitted[metric[1]] {
			t.Errorf("the dashboard uses the metric %s, which does not exist", metric[1])
		}
	}
}

// alarmMetric is a metric that an alarm uses.
type alarmMetric struct {
	namespace, name string
	dimensions      map[string]string
}

// alarmMetrics returns the metrics of each alarm. They are either properties of the alarm, or the input of its
// expression.
func alarmMetrics(tpl *Template) map[string][]alarmMetric {
	all := map[string][]alarmMetric{}
	for _, id := range resourcesOf(tpl, "AWS::CloudWatch::Alarm") {
		metrics := []any{any(tpl.Resources[id].Properties)}
		for _, metric := range List(tpl.Resources[id].Properties["Metrics"]) {
			metrics = append(metrics, At(metric, "MetricStat", "Metric"))
		}
		for _, metric := range metrics {
			if At(metric, "MetricName") == nil {
				continue // an expression, or an alarm with an expression
			}
			m := alarmMetric{Name(At(metric, "Namespace")), Name(At(metric, "MetricName")), map[string]string{}}
			for _, dimension := range List(At(metric, "Dimensions")) {
				m.dimensions[Name(At(dimension, "Name"))] = Name(At(dimension, "Value"))
			}
			all[id] = append(all[id], m)
		}
	}
	return all
}

// TestThrottlingIsNoticed checks that alarms watch the throttled reads and writes of every table and of every index. The
// metrics of a table do not include those of its indexes.
func TestThrottlingIsNoticed(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	watched := map[string]bool{}
	for id, metrics := range alarmMetrics(tpl) {
		if len(metrics) > 10 {
			t.Errorf("%s uses %d metrics, but CloudWatch allows 10 in an alarm", id, len(metrics))
		}
		for _, m := range metrics {
			watched[m.name+" "+m.dimensions["TableName"]+" "+m.dimensions["GlobalSecondaryIndexName"]] = true
		}
	}
	for _, table := range resourcesOf(tpl, "AWS::DynamoDB::Table") {
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

// dashboard returns the metrics of the dashboard's widgets. A metric consists of namespace, name and dimensions.
// dashboard also checks that widgets have a title, do not overlap, and fit into the width of 24 columns.
func dashboard(t *testing.T, tpl *Template) (metrics [][]string) {
	t.Helper()
	sub, _ := At(tpl.Resources["Dashboard"].Properties, "DashboardBody", "Fn::Sub").([]any)
	if len(sub) != 2 {
		t.Fatal("the dashboard is not an Fn::Sub with values for the resources that can be missing")
	}
	body, _ := sub[0].(string)
	var board struct {
		Widgets []struct {
			X, Y, Width, Height int
			Properties          struct {
				Title, Region string
				Metrics       [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &board); err != nil {
		t.Fatalf("the dashboard is not valid JSON: %v", err)
	}
	positions := map[[2]int]bool{}
	for _, w := range board.Widgets {
		position := [2]int{w.X, w.Y}
		if w.Properties.Title == "" || w.Properties.Region != "${AWS::Region}" {
			t.Errorf("the dashboard has a widget without title or with another region: %+v", w)
		}
		if w.X+w.Width > 24 || positions[position] {
			t.Errorf("the dashboard has a widget that is too wide or overlaps another one: %+v", w)
		}
		positions[position] = true
		for _, metric := range w.Properties.Metrics {
			var texts []string
			for _, part := range metric {
				if text, ok := part.(string); ok {
					texts = append(texts, text)
				}
			}
			metrics = append(metrics, texts)
		}
	}
	return metrics
}

// TestDashboardIsComplete checks that the dashboard shows every function, table and queue.
func TestDashboardIsComplete(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	metrics := dashboard(t, tpl)
	for typ, name := range map[string]string{
		"AWS::Serverless::Function": "Errors",
		"AWS::DynamoDB::Table":      "ConsumedWriteCapacityUnits",
	} {
		for _, id := range resourcesOf(tpl, typ) {
			if !slices.ContainsFunc(metrics, func(metric []string) bool {
				return metric[1] == name && slices.Contains(metric, "${"+id+"}")
			}) {
				t.Errorf("the dashboard does not show the metric %s of %s", name, id)
			}
		}
	}
	for _, id := range resourcesOf(tpl, "AWS::SQS::Queue") {
		if !slices.ContainsFunc(metrics, func(metric []string) bool {
			return slices.Contains(metric, "${"+id+".QueueName}")
		}) {
			t.Errorf("the dashboard does not show the queue %s", id)
		}
	}
}
