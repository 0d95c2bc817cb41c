package stack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/schedule/expression"
	"devplatform/infra/local/stack"
)

// schedules has schedules with all properties and with the required ones.
const schedules = `
      AutoPublishAlias: live
      EventInvokeConfig: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
      Events:
        Two: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour)}}
        MostTwo:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: cron(0 10 21 11 ? 2026)
            ScheduleExpressionTimezone: Europe/Zurich
            State: DISABLED
            Input: '"text"'
            Name: two
            Description: Two
            FlexibleTimeWindow: {Mode: 'OFF'}
            RetryPolicy: {MaximumRetryAttempts: 185}
            RoleArn: !GetAtt Role.Arn
            PermissionsBoundary: x
            KmsKeyArn: x
  Role: {Type: AWS::IAM::Role}
`

func TestSchedules(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+schedules), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	schedule := func(name, expression string) resources.Schedule {
		return resources.Schedule{
			Name: name, ARN: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/" + name, Function: "F", Enabled: true,
			Expression: expression, Timezone: "UTC", MaximumRetryAttempts: 185, MaximumEventAge: 24 * time.Hour,
			Async: resources.AsyncInvoke{MaximumRetryAttempts: 0, MaximumEventAge: time.Minute},
		}
	}
	disabled := schedule("two", "cron(0 10 21 11 ? 2026)")
	disabled.Timezone, disabled.Enabled, disabled.Input = "Europe/Zurich", false, `"text"`
	if diff := cmp.Diff([]resources.Schedule{schedule("FTwo", "rate(1 hour)"), disabled}, got.Schedules); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScheduleErrors(t *testing.T) {
	t.Parallel()
	const at = "10: F: Properties.Events.E"
	two := func(properties string) string {
		return "      Events:\n        E: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), " + properties + "}}\n"
	}
	one := func(template, path, problem string) errorCase {
		return errorCase{template, []string{at + ".Properties." + path + ": " + problem}}
	}
	_, invalid := expression.Parse("cron(x)", time.UTC)
	_, unknown := expression.Zone("Europe/Atlantis")
	run(t, header, map[string]errorCase{
		"nothing more": {"      Events:\n        E: {Type: ScheduleV2}", []string{at + ".Properties.ScheduleExpression: is missing"}},
		"expression": {"      Events:\n        D: {Type: ScheduleV2, Properties: {ScheduleExpression: cron(x)}}", []string{
			"10: F: Properties.Events.D.Properties.ScheduleExpression: " + invalid.Error()}},
		"time zone": one(two("ScheduleExpressionTimezone: Europe/Atlantis"), "ScheduleExpressionTimezone", unknown.Error()),
		"state":     one(two("State: 'ON'"), "State", `"ON" is %: use ENABLED or DISABLED`),
		"input":     one(two("Input: text"), "Input", "must be JSON text"),
		"retries":   one(two("RetryPolicy: {MaximumRetryAttempts: 186}"), "RetryPolicy.MaximumRetryAttempts", `"186" must be a whole number between 0 and 185`),
		"age":       one(two("RetryPolicy: {MaximumEventAgeInSeconds: 59}"), "RetryPolicy.MaximumEventAgeInSeconds", `"59" must be a whole number between 60 and 86400`),
		"attribute": one(two("Input: '\"<aws.scheduler.execution-id>\"'"), "Input", "context attributes are %"),
		"queue":     one(two("DeadLetterConfig: {}"), "DeadLetterConfig", "%"),
		"window":    one(two("FlexibleTimeWindow: {Mode: FLEXIBLE}"), "FlexibleTimeWindow.Mode", `"FLEXIBLE" is %: use OFF`),
		"same name": {two("Name: a") + "        D: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), Name: a}}", []string{"11: F: Properties.Events.D: has the same name as another schedule: a"}},
	})
}

// TestGeneratedNames checks that names which CloudFormation generates are not longer than AWS allows.
func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("L", 100)
	got, err := stack.Parse("t.yaml", []byte(header+"  "+long+": {Type: AWS::SQS::Queue}\n  "+long+"B: {Type: AWS::S3::Bucket}"), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	queue, bucket := got.Queues[0].Name, got.Buckets[0].Name
	if len(queue) != 80 || !strings.HasPrefix(queue, "local-LLL") || len(bucket) != 63 || !strings.HasPrefix(bucket, "local-lll") {
		t.Errorf("got the names %s and %s", queue, bucket)
	}
}
