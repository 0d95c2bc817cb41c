package templatetest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

// aliasSuffix is the end of the logical ID that the SAM transform creates for a function's alias live. The beginning is
// the function's logical ID.
const aliasSuffix = "Aliaslive"

// gatewayAlarms maps each API to the alarm on its 5xx responses.
var gatewayAlarms = map[string]string{"Api": "GatewayErrorsAlarm", "SitesApi": "SitesGatewayErrorsAlarm"}

// deployCheck is the function that checks the new versions of all other functions. It has no alias and no alarm on its
// errors: if it fails, the deployment fails, and the metrics of the probe are missing.
const deployCheck = "DeployCheckFunction"

// gatewayOf returns the API that may call a function. It returns "" if there is none.
func gatewayOf(tpl *Template, function string) string {
	for _, r := range tpl.Resources {
		if r.Type == "AWS::Lambda::Permission" && r.Properties["Principal"] == "apigateway.amazonaws.com" &&
			Name(r.Properties["FunctionName"]) == function+aliasSuffix {
			parts, _ := At(r.Properties, "SourceArn", "Fn::Sub").([]any)
			return Name(At(parts[1], "__ApiId__"))
		}
	}
	return ""
}

// dimensions returns the dimensions of an alarm's metric, by name.
func dimensions(alarm Resource) map[string]string {
	values := map[string]string{}
	for _, dimension := range List(alarm.Properties["Dimensions"]) {
		values[Name(At(dimension, "Name"))] = Name(At(dimension, "Value"))
	}
	return values
}

// alarmsOn returns the logical IDs of the alarms on a metric whose dimension has this value.
func alarmsOn(tpl *Template, metric, dimension, value string) (ids []string) {
	for id, r := range tpl.Resources {
		if r.Type == alarmType && r.Properties["MetricName"] == metric && dimensions(r)[dimension] == value {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestFunctionsAreObservable checks that every function has its own role and log group, tracing, and one alarm for its
// errors, except deploy-check.
func TestFunctionsAreObservable(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	functionOf := map[string]string{} // by role
	for function, role := range tpl.Functions() {
		p := tpl.Resources[function].Properties
		if other := functionOf[role]; other != "" {
			t.Errorf("%s and %s share a role", function, other)
		}
		functionOf[role] = function
		if At(p, "TracingConfig", "Mode") != "Active" {
			t.Errorf("%s has no tracing", function)
		}
		logs := Name(At(p, "LoggingConfig", "LogGroup"))
		if wantLogs := strings.TrimSuffix(function, "Function") + "Logs"; logs != wantLogs {
			t.Errorf("%s: got the log group %s, want %s", function, logs, wantLogs)
		}
		if tpl.Resources[logs].Type != "AWS::Logs::LogGroup" || At(p, "LoggingConfig", "LogFormat") != "JSON" {
			t.Errorf("%s: %s is not a log group of the template, or the log format is not JSON", function, logs)
		}
		if function == deployCheck {
			continue
		}
		alarms := alarmsOn(tpl, "Errors", "FunctionName", function)
		if len(alarms) != 1 || dimensions(tpl.Resources[alarms[0]])["Resource"] != function+":live" {
			t.Errorf("%s: got the alarms %v for errors, want one for the alias live", function, alarms)
		}
	}
}

// TestDeploymentsRollBack checks that in prod a new version first receives a tenth of the traffic, and that the
// function's error alarm rolls the deployment back. For functions behind the gateway, the alarm on 5xx responses also
// rolls it back, because Lambda counts these responses as successes. In dev, all traffic is shifted at once and no
// alarm stops a deployment, so that a fix can be deployed while an alarm is active.
func TestDeploymentsRollBack(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	for function := range tpl.Functions() {
		if function == deployCheck {
			continue
		}
		wantAlarms := alarmsOn(tpl, "Errors", "FunctionName", function)
		if api := gatewayOf(tpl, function); api != "" {
			wantAlarms = append(wantAlarms, gatewayAlarms[api])
		}
		group := tpl.Resources[function+"DeploymentGroup"].Properties
		configuration, _ := At(group, "AlarmConfiguration", "Fn::If").([]any)
		if len(configuration) != 3 || configuration[0] != "IsProd" || At(configuration[1], "Enabled") != true ||
			!reflect.DeepEqual(configuration[2], map[string]any{}) {
			t.Fatalf("%s: got the alarm configuration %v, want alarms only in prod", function, group["AlarmConfiguration"])
		}
		var alarms []string
		for _, alarm := range List(At(configuration[1], "Alarms")) {
			alarms = append(alarms, Name(At(alarm, "Name")))
		}
		for _, want := range wantAlarms {
			if !slices.Contains(alarms, want) {
				t.Errorf("%s: the alarm %s does not roll back a deployment", function, want)
			}
		}
		shift, err := json.Marshal(group["DeploymentConfigName"])
		if err != nil {
			t.Fatal(err)
		}
		if text := string(shift); !strings.HasPrefix(text, `{"Fn::If":["IsProd",`) ||
			!strings.Contains(text, `"Canary10Percent5Minutes"`) || !strings.Contains(text, `"AllAtOnce"`) {
			t.Errorf("%s: got the deployment configuration %s, want a canary in prod and all at once in dev", function, text)
		}
		if At(group, "AutoRollbackConfiguration", "Enabled") != true {
			t.Errorf("%s has no automatic rollback", function)
		}
	}
}

// TestNewVersionsAreChecked checks that CodeDeploy invokes deploy-check before the new version of any function gets
// traffic, and that deploy-check knows the new versions of all functions.
func TestNewVersionsAreChecked(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	sub, _ := At(tpl.Resources[deployCheck].Properties, "Environment", "Variables", "VERSIONS", "Fn::Sub").([]any)
	if len(sub) != 2 {
		t.Fatal("VERSIONS is not an Fn::Sub with a value for the function that can be missing")
	}
	versions, _ := sub[0].(string)
	for name, value := range sub[1].(map[string]any) { // a panic fails the test, too
		versions = strings.ReplaceAll(versions, "${"+name+"}", "${"+Name(Branches(value)[0])+"}")
	}
	for function := range tpl.Functions() {
		if function == deployCheck {
			continue
		}
		alias := tpl.Resources[function+aliasSuffix]
		hook := Name(At(alias.UpdatePolicy, "CodeDeployLambdaAliasUpdate", "BeforeAllowTrafficHook"))
		if hook != deployCheck {
			t.Errorf("%s: got the hook %s before it gets traffic, want %s", function, hook, deployCheck)
		}
		version, _, _ := strings.Cut(Name(alias.Properties["FunctionVersion"]), ".")
		if pair := function + "=${" + version + "}"; !slices.Contains(strings.Split(versions, ","), pair) {
			t.Errorf("%s: VERSIONS of %s does not contain %s", function, deployCheck, pair)
		}
		if !tpl.Granted(t, "DeployCheckRole")[Permission("lambda:InvokeFunction "+function+":*")] {
			t.Errorf("%s may not invoke the versions of %s", deployCheck, function)
		}
	}
}

// TestTriggersCallTheAlias checks that every trigger calls the alias live and not the newest version. A deployment can
// shift the traffic gradually only if all calls use the alias.
func TestTriggersCallTheAlias(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	triggers := 0
	for id, r := range tpl.Resources {
		var target any
		switch r.Type {
		case "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission":
			target = r.Properties["FunctionName"]
		case "AWS::Scheduler::Schedule":
			target = At(r.Properties, "Target", "Arn")
		default:
			continue
		}
		triggers++
		if !strings.HasSuffix(Name(target), aliasSuffix) && Name(target) != deployCheck {
			t.Errorf("%s calls %s, want the alias live", id, Name(target))
		}
	}
	for api := range gatewayAlarms {
		paths, _ := At(tpl.Resources[api].Properties, "Body", "paths").(map[string]any)
		for path, methods := range paths {
			triggers++
			method := Branches(At(Branches(methods)[0], "x-amazon-apigateway-any-method"))[0]
			uri := Name(Branches(At(method, "x-amazon-apigateway-integration", "uri"))[0])
			if !strings.Contains(uri, "Function"+aliasSuffix+"/") {
				t.Errorf("%s: the path %s calls %s, want the alias live", api, path, uri)
			}
		}
		if len(paths) == 0 {
			t.Errorf("%s has no paths", api)
		}
	}
	if triggers < 20 { // a lower bound, so that the test does not pass if it finds no triggers
		t.Errorf("found %d triggers, want at least 20", triggers)
	}
}

// TestFailedEventsAreKept checks that records and messages that a function cannot process are sent to a failure queue,
// which has an alarm. It also checks that alarms report functions that fall behind their stream or queue.
func TestFailedEventsAreKept(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	failureQueues := map[string]bool{}
	for _, id := range resourcesOf(tpl, "AWS::Lambda::EventSourceMapping") {
		p := tpl.Resources[id].Properties
		if !reflect.DeepEqual(p["FunctionResponseTypes"], []any{"ReportBatchItemFailures"}) {
			t.Errorf("%s does not report batch item failures", id)
		}
		source := Name(p["EventSourceArn"])
		function := strings.TrimSuffix(Name(p["FunctionName"]), aliasSuffix)
		if strings.HasSuffix(source, "/stream") {
			failureQueues[Name(At(p, "DestinationConfig", "OnFailure", "Destination"))] = true
			if len(alarmsOn(tpl, "IteratorAge", "FunctionName", function)) == 0 {
				t.Errorf("%s has no alarm on the age of its stream records", function)
			}
			if p["MaximumRecordAgeInSeconds"] == nil || p["BisectBatchOnFunctionError"] != true {
				t.Errorf("%s has no maximum record age or does not bisect batches, so that one record can block a shard", id)
			}
			continue
		}
		queue := tpl.Resources[source].Properties
		if queue["RedrivePolicy"] == nil {
			// The sweep sends the message of a job again.
			if source != "JobsQueue" || queue["MessageRetentionPeriod"] != 900.0 {
				t.Errorf("%s has no dead-letter queue", source)
			}
		} else {
			failureQueues[Name(At(queue, "RedrivePolicy", "deadLetterTargetArn"))] = true
		}
		alarms := alarmsOn(tpl, "ApproximateAgeOfOldestMessage", "QueueName", source)
		if source == "JobsQueue" { // its messages are returned so often that the metric leaves them out
			alarms = alarmsOn(tpl, "OldestJob", "", "")
		}
		if len(alarms) == 0 {
			t.Errorf("%s has no alarm on the age of its messages", source)
		}
		// AWS recommends six times the timeout, so that Lambda can retry a throttled batch.
		if visible, _ := queue["VisibilityTimeout"].(float64); visible < 6*timeout(tpl, function) {
			t.Errorf("%s: got the visibility timeout %v s, want at least six times the timeout of %s", source, visible, function)
		}
	}
	for queue := range failureQueues {
		p := tpl.Resources[queue].Properties
		if tpl.Resources[queue].Type != "AWS::SQS::Queue" || p["MessageRetentionPeriod"] != 1_209_600.0 {
			t.Errorf("%q is not a queue that keeps messages for 14 days", queue)
		}
		if len(alarmsOn(tpl, "ApproximateNumberOfMessagesVisible", "QueueName", queue)) == 0 {
			t.Errorf("%s has no alarm on its number of messages", queue)
		}
	}
	if len(failureQueues) != 4 { // of the functions for cleanup, fan-out, delivery and mails
		t.Errorf("got the failure queues %v, want 4 queues", failureQueues)
	}
	// A schedule invokes its function asynchronously, so the function needs a limit on the number of retries.
	for _, id := range resourcesOf(tpl, "AWS::Scheduler::Schedule") {
		function := strings.TrimSuffix(Name(At(tpl.Resources[id].Properties, "Target", "Arn")), aliasSuffix)
		if _, found := tpl.Resources[function+"EventInvokeConfig"]; !found && function != deployCheck { // the probe never fails
			t.Errorf("%s has no limit on the number of retries of asynchronous invocations", function)
		}
	}
}

// timeout returns the timeout of a function in seconds.
func timeout(tpl *Template, function string) float64 {
	seconds, _ := tpl.Resources[function].Properties["Timeout"].(float64)
	return seconds
}
