package stack

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/schedule/expression"
)

// scheduleEventProperties belong to an event of the type ScheduleV2.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
type scheduleEventProperties struct {
	object `ignored:"Description KmsKeyArn PermissionsBoundary RoleArn"`

	ScheduleExpression         string `cfn:",required"`
	ScheduleExpressionTimezone string `cfn:",default=UTC"`
	State                      string `cfn:",default=ENABLED,oneof=ENABLED|DISABLED"`
	Name                       string
	Input                      string
	FlexibleTimeWindow         struct {
		Mode string `cfn:",default=OFF,oneof=OFF"`
	}
	RetryPolicy struct {
		MaximumRetryAttempts int           `cfn:",default=185,min=0,max=185"`
		MaximumEventAge      time.Duration `cfn:"MaximumEventAgeInSeconds,default=86400,min=60,max=86400"`
	}
}

// scheduleEvent adds the schedule that SAM makes of an event.
func (b *builder) scheduleEvent(ev eventProperties, f resources.Function) {
	var p scheduleEventProperties
	b.decodeEvent(ev, &p)
	s := resources.Schedule{
		Name: cmp.Or(p.Name, ev.id()), Function: f.Name, Async: f.Async, Enabled: p.State == "ENABLED", Input: p.Input,
		Expression: p.ScheduleExpression, Timezone: p.ScheduleExpressionTimezone,
		MaximumRetryAttempts: p.RetryPolicy.MaximumRetryAttempts, MaximumEventAge: p.RetryPolicy.MaximumEventAge,
	}
	s.ARN = b.expand("arn:aws:scheduler:{region}:{account}:schedule/default/" + s.Name)
	zone, err := expression.Zone(s.Timezone)
	if err != nil {
		p.problem("ScheduleExpressionTimezone", "%v", err)
		zone = time.UTC
	}
	if s.Expression != "" {
		if _, err := expression.Parse(s.Expression, zone); err != nil {
			p.problem("ScheduleExpression", "%v", err)
		}
	}
	if s.Input != "" && !json.Valid([]byte(s.Input)) {
		p.problem("Input", "must be JSON text")
	}
	if strings.Contains(s.Input, "<aws.scheduler.") {
		p.problem("Input", "context attributes are %s", unsupported)
	}
	for _, other := range b.stack.Schedules {
		if other.ARN == s.ARN {
			b.add(ev.at, ev.lineOf("Type"), "has the same name as another schedule: %s", s.Name)
			break
		}
	}
	b.stack.Schedules = append(b.stack.Schedules, s)
}
