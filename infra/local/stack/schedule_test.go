package stack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/stack"
)

// schedules has every form of a schedule, with as much as a template may say and as little.
const schedules = `
      AutoPublishAlias: live
      EventInvokeConfig: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
      Events:
        Rule: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}
        MostRule:
          Type: Schedule
          Properties:
            Schedule: cron(0 9 ? * MON-FRI *)
            Name: !Sub '${AWS::StackName}-nine'
            Description: At nine
            State: DISABLED
            Input: '{"at":9}'
            RetryPolicy: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
            DeadLetterConfig: {Arn: !GetAtt Dead.Arn}
        Off: {Type: Schedule, Properties: {Schedule: rate(2 days), Enabled: false}}
        Two: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour)}}
        MostTwo:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: at(2026-11-21T10:00:00)
            ScheduleExpressionTimezone: Europe/Zurich
            State: DISABLED
            Input: '"text"'
            Name: two
            GroupName: !Ref Group
            Description: Two
            FlexibleTimeWindow: {Mode: FLEXIBLE, MaximumWindowInMinutes: 1440}
            StartDate: 2026-11-21T10:00:00Z
            EndDate: '2026-11-21T10:00:00.500+00:00'
            RetryPolicy: {MaximumRetryAttempts: 185}
            DeadLetterConfig: {Arn: !GetAtt Dead.Arn}
            RoleArn: x
            PermissionsBoundary: x
            KmsKeyArn: x
        Nameless: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour), OmitName: true, FlexibleTimeWindow: {Mode: 'OFF'}}}
  Dead: {Type: AWS::SQS::Queue}
  Group: {Type: AWS::Scheduler::ScheduleGroup, Properties: {Name: ours}}
  PlainRule:
    Type: AWS::Events::Rule
    Properties:
      ScheduleExpression: rate(5 minutes)
      EventBusName: default
      Targets:
        - {Id: one, Arn: !Ref F.Alias, Input: '1', DeadLetterConfig: {Arn: !GetAtt Dead.Arn}, RetryPolicy: {MaximumRetryAttempts: 1}}
  Idle: {Type: AWS::Events::Rule, Properties: {ScheduleExpression: rate(5 minutes)}}
  Plain:
    Type: AWS::Scheduler::Schedule
    Properties:
      ScheduleExpression: rate(5 minutes)
      FlexibleTimeWindow: {Mode: 'OFF'}
      Target: {Arn: !GetAtt F.Arn, RoleArn: x}
`

func TestSchedules(t *testing.T) {
	t.Parallel()
	got, err := stack.Parse("t.yaml", []byte(header+schedules), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rule := func(name, expression string) stack.Schedule {
		return stack.Schedule{
			Name: name, ARN: "arn:aws:events:us-east-1:000000000000:rule/" + name, Rule: true, Function: "F", Enabled: true, Expression: expression,
			Timezone: "UTC", MaximumRetryAttempts: 185, MaximumEventAge: 24 * time.Hour,
			Async: stack.AsyncInvoke{MaximumRetryAttempts: 0, MaximumEventAge: time.Minute},
		}
	}
	schedule := func(group, name, expression string) stack.Schedule {
		s := rule(name, expression)
		s.Rule, s.ARN = false, "arn:aws:scheduler:us-east-1:000000000000:schedule/"+group+"/"+name
		return s
	}
	with := func(s stack.Schedule, change func(*stack.Schedule)) stack.Schedule {
		change(&s)
		return s
	}
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	want := []stack.Schedule{
		rule("local-FRule", "rate(1 minute)"),
		with(rule("local-nine", "cron(0 9 ? * MON-FRI *)"), func(s *stack.Schedule) {
			s.Enabled, s.Input, s.MaximumRetryAttempts, s.MaximumEventAge, s.DeadLetterQueue = false, `{"at":9}`, 0, time.Minute, "local-Dead"
		}),
		with(rule("local-FOff", "rate(2 days)"), func(s *stack.Schedule) { s.Enabled = false }),
		schedule("default", "FTwo", "rate(1 hour)"),
		with(schedule("ours", "two", "at(2026-11-21T10:00:00)"), func(s *stack.Schedule) {
			s.Timezone, s.Enabled, s.Input, s.DeadLetterQueue = "Europe/Zurich", false, `"text"`, "local-Dead"
			s.FlexibleWindow, s.Start, s.End = 24*time.Hour, start, start.Add(500*time.Millisecond)
		}),
		schedule("default", "local-FNameless", "rate(1 hour)"),
		with(rule("local-PlainRule", "rate(5 minutes)"), func(s *stack.Schedule) {
			s.Input, s.MaximumRetryAttempts, s.DeadLetterQueue = "1", 1, "local-Dead"
		}),
		schedule("default", "local-Plain", "rate(5 minutes)"),
	}
	equalTimes := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, got.Schedules, equalTimes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScheduleErrors(t *testing.T) {
	t.Parallel()
	const at = "10: F: Properties.Events.E"
	rule := func(properties string) string {
		return "      Events:\n        E: {Type: Schedule, Properties: {Schedule: rate(1 minute), " + properties + "}}\n"
	}
	two := func(properties string) string {
		return "      Events:\n        E: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), " + properties + "}}\n"
	}
	plain := func(typ, properties string) string {
		return "  R: {Type: " + typ + ", Properties: {ScheduleExpression: rate(1 minute), " + properties + "}}\n"
	}
	one := func(template, path, complaint string) errorCase {
		return errorCase{template, []string{at + ".Properties." + path + ": " + complaint}}
	}
	run(t, header, map[string]errorCase{
		"nothing":      {"      Events:\n        E: {Type: Schedule}", []string{at + ".Properties.Schedule: is missing"}},
		"nothing more": {"      Events:\n        E: {Type: ScheduleV2}", []string{at + ".Properties.ScheduleExpression: is missing"}},
		"expression": {"      Events:\n        E: {Type: Schedule, Properties: {Schedule: rate(1 minutes)}}\n        D: {Type: ScheduleV2, Properties: {ScheduleExpression: cron(x)}}", []string{
			at + `.Properties.Schedule: schedule expression "rate(1 minutes)": a rule's unit agrees with its number: 1 minute, 2 minutes`, `11: F: Properties.Events.D.Properties.ScheduleExpression: schedule expression "cron(x)": cron has six fields (minutes hours day-of-month month day-of-week year), not 1`}},
		"time zone":   one(two("ScheduleExpressionTimezone: Europe/Atlantis"), "ScheduleExpressionTimezone", "time zone: unknown time zone Europe/Atlantis"),
		"both states": one(rule("Enabled: true, State: ENABLED"), "Enabled", "can't stand beside State: SAM takes one of them"),
		"state":       one(two("State: 'ON'"), "State", `"ON" is %, which knows ENABLED, DISABLED`),
		"input":       one(rule("Input: text"), "Input", "must be JSON text"),
		"retries":     one(rule("RetryPolicy: {MaximumRetryAttempts: 186}"), "RetryPolicy.MaximumRetryAttempts", `"186" must be a whole number between 0 and 185`),
		"age":         one(two("RetryPolicy: {MaximumEventAgeInSeconds: 59}"), "RetryPolicy.MaximumEventAgeInSeconds", `"59" must be a whole number between 60 and 86400`),
		"made queue":  one(two("DeadLetterConfig: {Type: SQS}"), "DeadLetterConfig.Type", "a queue that SAM makes is %: declare an AWS::SQS::Queue and name it with Arn"),
		"no queue":    one(rule("DeadLetterConfig: {}"), "DeadLetterConfig.Arn", "is missing"),
		"foreign":     one(rule("DeadLetterConfig: {Arn: x}"), "DeadLetterConfig.Arn", "must be the Arn of an AWS::SQS::Queue of this template"),
		"name":        {rule("Name: a b"), []string{at + `: "a b" can't be the name of a rule or schedule: letters, digits, ., - and _ only, 64 at most`}},
		"long name":   {two("Name: " + strings.Repeat("n", 65)), []string{at + `: "` + strings.Repeat("n", 65) + `" can't be the name of a rule or schedule: letters, digits, ., - and _ only, 64 at most`}},
		"two names":   one(two("Name: a, OmitName: true"), "OmitName", "can't stand beside Name"),
		"date":        one(two("StartDate: tomorrow"), "StartDate", `"tomorrow" must be a time such as 2026-11-21T10:00:00Z`),
		"dates":       one(two("StartDate: 2026-11-21T10:00:00Z, EndDate: 2026-11-21T10:00:00Z"), "EndDate", "must come after StartDate"),
		"mode":        one(two("FlexibleTimeWindow: {Mode: SOFT}"), "FlexibleTimeWindow.Mode", `"SOFT" is %, which knows OFF, FLEXIBLE`),
		"no mode":     one(two("FlexibleTimeWindow: {MaximumWindowInMinutes: 1}"), "FlexibleTimeWindow.Mode", "is missing"),
		"no window":   one(two("FlexibleTimeWindow: {Mode: FLEXIBLE}"), "FlexibleTimeWindow.MaximumWindowInMinutes", "stands with Mode FLEXIBLE, and only there"),
		"window":      one(two("FlexibleTimeWindow: {Mode: FLEXIBLE, MaximumWindowInMinutes: 1441}"), "FlexibleTimeWindow.MaximumWindowInMinutes", `"1441" must be a whole number between 1 and 1440`),
		"same name":   {rule("Name: a") + "        D: {Type: Schedule, Properties: {Schedule: rate(1 minute), Name: a}}", []string{"11: F: Properties.Events.D: has the name a, as F has (line 10)"}},
		"two kinds":   {rule("Name: a") + "        D: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), Name: a}}", nil},
		"pattern":     {"  R: {Type: AWS::Events::Rule, Properties: {EventPattern: {source: [x]}}}", []string{"9: R: Properties.EventPattern: rules for events are %, which knows those with a ScheduleExpression"}},
		"bus":         {plain("AWS::Events::Rule", "EventBusName: b"), []string{`9: R: Properties.EventBusName: "b": rules with a ScheduleExpression are on the bus default, on AWS too`}},
		"targets": {plain("AWS::Events::Rule", "Targets: [{Arn: !GetAtt F.Arn, Id: a}, {Arn: !GetAtt F.Arn, Id: b}]"), []string{
			"9: R: Properties.Targets: a rule with several targets is %: give each function a rule of its own"}},
		"target": {plain("AWS::Events::Rule", "Targets: [{Arn: 'arn:aws:sqs:us-east-1:0:q', InputPath: $}]"), []string{
			"9: R: Properties.Targets[0].InputPath: %", "9: R: Properties.Targets[0].Id: is missing",
			"9: R: Properties.Targets[0].Arn: must be the Arn of a function of this template: other targets are %"}},
		"by name": {plain("AWS::Scheduler::Schedule", "FlexibleTimeWindow: {Mode: 'OFF'}, Target: {Arn: !Ref F, RoleArn: x, SqsParameters: {}}"), []string{
			"9: R: Properties.Target.SqsParameters: %", "9: R: Properties.Target.Arn: must be the Arn of a function of this template: other targets are %"}},
		"bare": {"  R: {Type: AWS::Scheduler::Schedule}", []string{
			"9: R: Properties.FlexibleTimeWindow: is missing", "9: R: Properties.ScheduleExpression: is missing",
			"9: R: Properties.Target.Arn: is missing", "9: R: Properties.Target.RoleArn: is missing"}},
	})
}

// TestGeneratedNames holds names that the template leaves to CloudFormation against what AWS takes.
func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("L", 100)
	got, err := stack.Parse("t.yaml", []byte(header+"      Events: {"+long+": {Type: Schedule, Properties: {Schedule: rate(1 day)}}}\n"+
		"      Description: !Ref "+"G"+long+"\n  "+long+": {Type: AWS::SQS::Queue}\n"+
		"  G: {Type: AWS::Serverless::Function, Properties: {Runtime: provided.al2, Handler: h, CodeUri: g, Events: {"+long+": {Type: Schedule, Properties: {Schedule: rate(1 day)}}}}}"), stack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	queue, schedule, other := got.Queues[0].Name, got.Schedules[0].Name, got.Schedules[1].Name
	if len(queue) != 80 || !strings.HasPrefix(queue, "local-LLL") || len(schedule) != 64 || !strings.HasPrefix(schedule, "local-FLLL") || len(other) != 64 {
		t.Errorf("queue %s, rules %s and %s", queue, schedule, other)
	}
	if referred := got.Functions[0].Description; referred != other {
		t.Errorf("Ref gives %s of the rule %s", referred, other)
	}
}
