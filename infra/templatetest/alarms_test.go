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

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var inRunbook = regexp.MustCompile("(?m)^\\| (`[A-Za-z]+`[^|]*) \\|")

// TestEveryAlarmIsToldAndExplained: each alarm reaches whoever is to be reached, knows what silence means, and has its line in the
// runbook, which marks those that roll a deployment back; and the runbook knows no others.
func TestEveryAlarmIsToldAndExplained(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	rolling := map[string]bool{}
	for _, id := range of(tpl, "AWS::Serverless::Function") {
		for _, alarm := range List(At(tpl.Resources[id].Properties, "DeploymentPreference", "Alarms")) {
			rolling[Name(alarm)] = true
		}
	}
	explained := map[string]bool{}
	for _, row := range inRunbook.FindAllStringSubmatch(read(t, "infra/RUNBOOK.md"), -1) {
		for _, name := range strings.Split(row[1], ", ") {
			name, mark, _ := strings.Cut(strings.TrimPrefix(name, "`"), "`")
			if !strings.HasSuffix(name, "Alarm") {
				continue
			}
			explained[name] = true
			if rolling[name] != (mark == " ↺") {
				t.Errorf("RUNBOOK.md, %s: rolls back: %v", name, rolling[name])
			}
		}
	}
	told := value(t, `{"Fn::If":["MailsAlarms",[{"Ref":"AlarmTopic"}],{"Fn::If":["HasAlarmTopic",[{"Ref":"AlarmTopicArn"}],{"Ref":"AWS::NoValue"}]}]}`)
	alarms := of(tpl, "AWS::CloudWatch::Alarm")
	for _, id := range alarms {
		p := tpl.Resources[id].Properties
		if !reflect.DeepEqual(p["AlarmActions"], told) {
			t.Errorf("%s tells %v", id, p["AlarmActions"])
		}
		if p["TreatMissingData"] == nil || p["AlarmDescription"] == nil {
			t.Errorf("%s: what does it mean, and what if there are no data?", id)
		}
		if !explained[id] {
			t.Errorf("%s has no line in infra/RUNBOOK.md", id)
		}
		delete(explained, id)
	}
	for id := range explained {
		t.Errorf("infra/RUNBOOK.md explains %s, which is not there", id)
	}
	if len(alarms) < 25 {
		t.Errorf("only %d alarms", len(alarms))
	}
}

// TestAlarmsWatchWhatIsThere: the resources that alarms and the dashboard name by Ref exist, which cfn-lint sees, and so do the metrics of
// our own, which it does not.
func TestAlarmsWatchWhatIsThere(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	ours := map[string]bool{}
	for _, id := range of(tpl, "AWS::Logs::MetricFilter") {
		for _, transformation := range List(tpl.Resources[id].Properties["MetricTransformations"]) {
			ours[Name(At(transformation, "MetricName"))] = true
		}
	}
	for _, constant := range regexp.MustCompile(`metric[A-Z]\w+ += "(\w+)"`).FindAllStringSubmatch(read(t, "shared/webhook/delivery/metrics.go"), -1) {
		ours[constant[1]] = true
	}
	for _, id := range of(tpl, "AWS::CloudWatch::Alarm") {
		p := tpl.Resources[id].Properties
		if Name(p["Namespace"]) == "AWS::StackName" && !ours[Name(p["MetricName"])] {
			t.Errorf("%s: nobody tells %v", id, p["MetricName"])
		}
		if id == "GatewayErrorsAlarm" && Name(tpl.Resources["Api"].Properties["Name"]) != "AWS::StackName" {
			t.Error("GatewayErrorsAlarm watches a gateway of another name")
		}
	}
	for _, metric := range dashboard(t, tpl) {
		if namespace := metric[0]; namespace == "${AWS::StackName}" && !ours[metric[1]] {
			t.Errorf("the dashboard shows %s, which nobody tells", metric[1])
		}
	}
}

// dashboard gives the metrics of the dashboard's widgets: namespace, name and dimensions.
func dashboard(t *testing.T, tpl *Template) (metrics [][]string) {
	t.Helper()
	body, _ := At(tpl.Resources["Dashboard"].Properties, "DashboardBody", "Fn::Sub").(string)
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
		t.Fatalf("the dashboard: %v", err)
	}
	places := map[[2]int]string{}
	for _, w := range board.Widgets {
		if w.Properties.Title == "" || w.Properties.Region != "${AWS::Region}" || w.X+w.Width > 24 || places[[2]int{w.X, w.Y}] != "" {
			t.Errorf("the dashboard: %+v", w)
		}
		places[[2]int{w.X, w.Y}] = w.Properties.Title
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

// TestDashboardShowsEveryFunction and every table and failure queue: what is added later is not forgotten there.
func TestDashboardShowsEveryFunction(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	shown := dashboard(t, tpl)
	for typ, how := range map[string]struct{ metric, reference string }{
		"AWS::Serverless::Function": {"Errors", "${ID}"},
		"AWS::DynamoDB::Table":      {"ConsumedWriteCapacityUnits", "${ID}"},
	} {
		for _, id := range of(tpl, typ) {
			if !slices.ContainsFunc(shown, func(m []string) bool {
				return m[1] == how.metric && slices.Contains(m, strings.Replace(how.reference, "ID", id, 1))
			}) {
				t.Errorf("the dashboard shows no %s of %s", how.metric, id)
			}
		}
	}
	for _, id := range of(tpl, "AWS::SQS::Queue") {
		if !slices.ContainsFunc(shown, func(m []string) bool { return slices.Contains(m, "${"+id+".QueueName}") }) {
			t.Errorf("the dashboard does not show %s", id)
		}
	}
}
