package stack_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/stack"
)

// schedules has schedules with all properties and with the required ones.
const schedules = `
      EventInvokeConfig: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
      Events:
        Least: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour), RetryPolicy: {MaximumRetryAttempts: 0}}}
        Most:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: rate(30 days)
            State: DISABLED
            Input: '"text"'
            Name: two
            Description: Two
            FlexibleTimeWindow: {Mode: 'OFF'}
            RetryPolicy: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
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
	const arn = "arn:aws:scheduler:us-east-1:000000000000:schedule/default/"
	want := []resources.Schedule{
		{Name: "FLeast", ARN: arn + "FLeast", Function: "F", Enabled: true, Expression: "rate(1 hour)", Every: time.Hour},
		{Name: "two", ARN: arn + "two", Function: "F", Expression: "rate(30 days)", Every: 720 * time.Hour, Input: `"text"`},
	}
	if diff := cmp.Diff(want, got.Schedules); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScheduleErrors(t *testing.T) {
	t.Parallel()
	const at = "10: F: Properties.Events.E.Properties."
	event := func(properties string) string {
		return "      Events:\n        E: {Type: ScheduleV2, Properties: {" + properties + "}}\n"
	}
	valid := func(more string) string {
		return event("ScheduleExpression: rate(1 minute), RetryPolicy: {MaximumRetryAttempts: 0}, " + more)
	}
	rate := func(expression, problem string) errorCase {
		return errorCase{event("ScheduleExpression: '" + expression + "', RetryPolicy: {MaximumRetryAttempts: 0}"),
			[]string{at + `ScheduleExpression: "` + expression + `" ` + problem}}
	}
	one := func(more, path, problem string) errorCase {
		return errorCase{valid(more), []string{at + path + ": " + problem}}
	}
	const noRate = "must be a rate such as rate(5 minutes), with the unit minute, hour or day"
	run(t, header, map[string]errorCase{
		"nothing more": {"      Events:\n        E: {Type: ScheduleV2}", []string{at + "ScheduleExpression: is missing", at + "RetryPolicy.MaximumRetryAttempts: is missing"}},
		"cron":         rate("cron(0 9 * * ? *)", "is %: use rate(…)"),
		"zero":         rate("rate(0 minutes)", noRate),
		"unit":         rate("rate(5 weeks)", noRate),
		"large":        rate("rate(1000000 days)", noRate),
		"more":         rate("rate(5 days) x", noRate),
		"time zone":    one("ScheduleExpressionTimezone: UTC", "ScheduleExpressionTimezone", "%"),
		"state":        one("State: 'ON'", "State", `"ON" is %: use ENABLED or DISABLED`),
		"attribute":    one("Input: '\"<aws.scheduler.execution-id>\"'", "Input", "context attributes are %"),
		"queue":        one("DeadLetterConfig: {}", "DeadLetterConfig", "%"),
		"window":       one("FlexibleTimeWindow: {Mode: FLEXIBLE}", "FlexibleTimeWindow.Mode", `"FLEXIBLE" is %: use OFF`),
		"retries":      {event("ScheduleExpression: rate(1 day), RetryPolicy: {MaximumRetryAttempts: 3}"), []string{at + `RetryPolicy.MaximumRetryAttempts: "3" is %: use 0`}},
	})
}
