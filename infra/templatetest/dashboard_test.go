package templatetest_test

import (
	"encoding/json"
	"slices"
	"testing"

	. "devplatform/infra/templatetest"
)

// dashboard returns the metrics of the dashboard's widgets. A metric consists of namespace, name and dimensions.
// dashboard also checks that widgets have a title, begin at different positions, and fit into the width of 24 columns.
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
			t.Errorf("the dashboard has a widget that is too wide or begins at the position of another one: %+v", w)
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

// TestDashboardIsComplete checks that the dashboard shows every function, table and queue, and only custom metrics that
// exist.
func TestDashboardIsComplete(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	metrics := dashboard(t, tpl)
	emitted := emittedMetrics(t, tpl)
	for _, metric := range metrics {
		if metric[0] == "${AWS::StackName}" && !emitted[metric[1]] {
			t.Errorf("the dashboard uses the metric %s, which does not exist", metric[1])
		}
	}
	for typ, name := range map[string]string{
		"AWS::Serverless::Function": "Errors",
		"AWS::DynamoDB::Table":      "ConsumedWriteCapacityUnits",
	} {
		for _, id := range resourcesOf(tpl, typ) {
			if id != auditTable && !slices.ContainsFunc(metrics, func(metric []string) bool {
				return metric[1] == name && slices.Contains(metric, "${"+id+"}")
			}) {
				t.Errorf("the dashboard does not show the metric %s of %s", name, id)
			}
		}
	}
	for _, id := range resourcesOf(tpl, "AWS::SQS::Queue") {
		if !slices.ContainsFunc(metrics, func(metric []string) bool {
			return slices.Contains(metric, "${"+id+".QueueName}") || slices.Contains(metric, "${"+id+"}") // can be missing
		}) {
			t.Errorf("the dashboard does not show the queue %s", id)
		}
	}
}
