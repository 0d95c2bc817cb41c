package templatetest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

// behindGateway tells whether a function answers requests.
func behindGateway(tpl *Template, function string) bool {
	for _, r := range tpl.Resources {
		if r.Type == "AWS::Lambda::Permission" && r.Properties["Principal"] == "apigateway.amazonaws.com" && isAlias(r.Properties["FunctionName"], function) {
			return true
		}
	}
	return false
}

func isAlias(reference any, function string) bool { return Name(reference) == function+"Aliaslive" }

// dimensions of an alarm's metric, by name.
func dimensions(alarm Resource) map[string]string {
	all := map[string]string{}
	for _, d := range List(alarm.Properties["Dimensions"]) {
		all[Name(At(d, "Name"))] = Name(At(d, "Value"))
	}
	return all
}

// alarmsOn gives the alarms on a metric of something.
func alarmsOn(tpl *Template, metric, dimension, of string) (ids []string) {
	for id, r := range tpl.Resources {
		if r.Type == "AWS::CloudWatch::Alarm" && r.Properties["MetricName"] == metric && dimensions(r)[dimension] == of {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestFunctionsAreWatchedAndRolledBack: every function is traced, logs where logs end, has a role of its own and an alarm for its
// errors; a new version takes a tenth of the calls first in prod, and goes when that alarm rings. Of those behind the gateway, also when
// they answer with 5xx, which Lambda counts as success. In dev, where nothing is shifted slowly, no alarm stops what would mend its cause.
func TestFunctionsAreWatchedAndRolledBack(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	roles := map[string]string{}
	for function, role := range tpl.Functions() {
		p := tpl.Resources[function].Properties
		if other := roles[role]; other != "" {
			t.Errorf("%s and %s share a role", function, other)
		}
		roles[role] = function
		if At(p, "TracingConfig", "Mode") != "Active" {
			t.Errorf("%s is not traced", function)
		}
		logs := Name(At(p, "LoggingConfig", "LogGroup"))
		if logs != strings.TrimSuffix(function, "Function")+"Logs" || tpl.Resources[logs].Type != "AWS::Logs::LogGroup" || At(p, "LoggingConfig", "LogFormat") != "JSON" {
			t.Errorf("%s logs to %q", function, logs)
		}
		alarms := alarmsOn(tpl, "Errors", "FunctionName", function)
		if len(alarms) != 1 || dimensions(tpl.Resources[alarms[0]])["Resource"] != function+":live" {
			t.Fatalf("%s: alarms for its errors: %v", function, alarms)
		}
		if behindGateway(tpl, function) {
			alarms = append(alarms, "GatewayErrorsAlarm")
		}
		group := tpl.Resources[function+"DeploymentGroup"].Properties
		watched, _ := At(group, "AlarmConfiguration", "Fn::If").([]any)
		if len(watched) != 3 || watched[0] != "IsProd" || At(watched[1], "Enabled") != true || !reflect.DeepEqual(watched[2], map[string]any{}) {
			t.Fatalf("%s is watched by %v", function, group["AlarmConfiguration"])
		}
		var rollers []string
		for _, alarm := range List(At(watched[1], "Alarms")) {
			rollers = append(rollers, Name(At(alarm, "Name")))
		}
		for _, alarm := range alarms {
			if !slices.Contains(rollers, alarm) {
				t.Errorf("%s is not rolled back by %s", function, alarm)
			}
		}
		how, err := json.Marshal(group["DeploymentConfigName"])
		if err != nil || !strings.HasPrefix(string(how), `{"Fn::If":["IsProd",`) || !strings.Contains(string(how), `"Canary10Percent5Minutes"`) || !strings.Contains(string(how), `"AllAtOnce"`) {
			t.Errorf("%s is deployed by %s", function, how)
		}
		if At(group, "AutoRollbackConfiguration", "Enabled") != true {
			t.Errorf("%s is not rolled back", function)
		}
	}
}

// TestTriggersCallTheAlias: whoever starts a function starts the version that traffic is shifted to, never one that is just uploaded.
func TestTriggersCallTheAlias(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	calls := 0
	for id, r := range tpl.Resources {
		var called any
		switch r.Type {
		case "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission":
			called = r.Properties["FunctionName"]
		case "AWS::Scheduler::Schedule":
			called = At(r.Properties, "Target", "Arn")
		default:
			continue
		}
		calls++
		if !strings.HasSuffix(Name(called), "Aliaslive") {
			t.Errorf("%s calls %s", id, Name(called))
		}
	}
	paths, _ := At(tpl.Resources["Api"].Properties, "Body", "paths").(map[string]any)
	for path, methods := range paths {
		calls++
		uri := Name(At(methods, "x-amazon-apigateway-any-method", "x-amazon-apigateway-integration", "uri"))
		if !strings.Contains(uri, "FunctionAliaslive/") {
			t.Errorf("%s calls %s", path, uri)
		}
	}
	if calls < 20 {
		t.Errorf("only %d calls were found", calls)
	}
}

// TestNothingIsLostUnseen: what a function could not do ends in a queue whose filling rings, and whoever falls behind is heard of.
func TestNothingIsLostUnseen(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	ends := map[string]bool{}
	for _, id := range of(tpl, "AWS::Lambda::EventSourceMapping") {
		p := tpl.Resources[id].Properties
		if !reflect.DeepEqual(p["FunctionResponseTypes"], []any{"ReportBatchItemFailures"}) {
			t.Errorf("%s fails whole batches for one record", id)
		}
		source := Name(p["EventSourceArn"])
		function := strings.TrimSuffix(Name(p["FunctionName"]), "Aliaslive")
		if strings.HasSuffix(source, "/stream") {
			ends[Name(At(p, "DestinationConfig", "OnFailure", "Destination"))] = true
			if len(alarmsOn(tpl, "IteratorAge", "FunctionName", function)) == 0 {
				t.Errorf("%s may fall behind its stream, and nobody hears of it", function)
			}
			if p["MaximumRecordAgeInSeconds"] == nil || p["BisectBatchOnFunctionError"] != true {
				t.Errorf("%s: one bad record stops its shard", id)
			}
			continue
		}
		queue := tpl.Resources[source].Properties
		ends[Name(At(queue, "RedrivePolicy", "deadLetterTargetArn"))] = true
		if len(alarmsOn(tpl, "ApproximateAgeOfOldestMessage", "QueueName", source)) == 0 {
			t.Errorf("messages may wait in %s, and nobody hears of it", source)
		}
		if visible, _ := queue["VisibilityTimeout"].(float64); visible < 6*timeout(tpl, function) {
			t.Errorf("%s shows messages again after %v s, while %s may be at work", source, visible, function)
		}
	}
	for queue := range ends {
		p := tpl.Resources[queue].Properties
		if tpl.Resources[queue].Type != "AWS::SQS::Queue" || p["MessageRetentionPeriod"] != 1_209_600.0 {
			t.Errorf("%q keeps what failed for less than 14 days", queue)
		}
		if len(alarmsOn(tpl, "ApproximateNumberOfMessagesVisible", "QueueName", queue)) == 0 {
			t.Errorf("%s may fill, and nobody hears of it", queue)
		}
	}
	if len(ends) != 3 {
		t.Errorf("%d queues for failures: %v", len(ends), ends)
	}
	// A schedule invokes asynchronously: its function says how often such an event is tried.
	for _, id := range of(tpl, "AWS::Scheduler::Schedule") {
		function := strings.TrimSuffix(Name(At(tpl.Resources[id].Properties, "Target", "Arn")), "Aliaslive")
		if _, found := tpl.Resources[function+"EventInvokeConfig"]; !found {
			t.Errorf("%s leaves it to Lambda how often an event is tried", function)
		}
	}
}

func timeout(tpl *Template, function string) float64 {
	seconds, _ := tpl.Resources[function].Properties["Timeout"].(float64)
	return seconds
}
