package stack

import (
	"encoding/json"
	"regexp"
	"time"

	"devplatform/infra/local/schedule/expression"
)

type (
	// scheduleEventProperties belong to an event of the type ScheduleV2.
	// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
	scheduleEventProperties struct {
		object `ignored:"Description KmsKeyArn PermissionsBoundary RoleArn"`

		ScheduleExpression         string `cfn:",required"`
		ScheduleExpressionTimezone string `cfn:",default=UTC"`
		State                      string `cfn:",default=ENABLED,oneof=ENABLED|DISABLED"`
		Name                       *string
		GroupName                  string `cfn:",default=default"`
		StartDate, EndDate         time.Time
		FlexibleTimeWindow         *windowProperties
		Input                      string
		RetryPolicy                struct {
			MaximumRetryAttempts int           `cfn:",default=185,min=0,max=185"`
			MaximumEventAge      time.Duration `cfn:"MaximumEventAgeInSeconds,default=86400,min=60,max=86400"`
		}
		DeadLetterConfig *deadLetterProperties
	}
	windowProperties struct {
		object

		Mode                   string `cfn:",required,oneof=OFF|FLEXIBLE"`
		MaximumWindowInMinutes int    `cfn:",min=1,max=1440"`
	}
	// deadLetterProperties has no Type: queues that SAM creates are not supported.
	deadLetterProperties struct {
		object

		ARN string `cfn:"Arn,required"`
	}
)

var scheduleName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// scheduleEvent adds the schedule that SAM makes of an event.
func (b *builder) scheduleEvent(ev eventProperties, f Function) {
	var p scheduleEventProperties
	b.decodeEvent(ev, &p)
	s := Schedule{
		Name: ev.id(), Function: f.Name, Async: f.Async, Enabled: p.State == "ENABLED", Expression: p.ScheduleExpression,
		Timezone: p.ScheduleExpressionTimezone, Start: p.StartDate, End: p.EndDate, Input: p.Input,
		MaximumRetryAttempts: p.RetryPolicy.MaximumRetryAttempts, MaximumEventAge: p.RetryPolicy.MaximumEventAge,
	}
	if p.Name != nil {
		s.Name = *p.Name
	}
	s.ARN = b.expand("arn:{partition}:scheduler:{region}:{account}:schedule/" + p.GroupName + "/" + s.Name)
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
	if !s.End.IsZero() && !s.End.After(s.Start) {
		p.problem("EndDate", "must be after StartDate")
	}
	if window := p.FlexibleTimeWindow; window != nil {
		if window.Mode != "" && (window.Mode == "FLEXIBLE") != (window.MaximumWindowInMinutes > 0) {
			window.problem("MaximumWindowInMinutes", "must be present if, and only if, Mode is FLEXIBLE")
		}
		s.FlexibleWindow = time.Duration(window.MaximumWindowInMinutes) * time.Minute
	}
	if s.Input != "" && !json.Valid([]byte(s.Input)) {
		p.problem("Input", "must be JSON text")
	}
	if p.DeadLetterConfig != nil && p.DeadLetterConfig.ARN != "" {
		s.DeadLetterQueue = b.queueByARN(p.DeadLetterConfig.object, "Arn", p.DeadLetterConfig.ARN)
	}
	if !scheduleName.MatchString(s.Name) {
		b.add(ev.at, ev.lineOf("Type"), "%q is not a valid name: a schedule's name has 1 to 64 letters, digits, ., - and _",
			s.Name)
	}
	for _, other := range b.stack.Schedules {
		if other.ARN == s.ARN {
			b.add(ev.at, ev.lineOf("Type"), "has the same name as another schedule: %s", s.Name)
			break
		}
	}
	b.stack.Schedules = append(b.stack.Schedules, s)
}
