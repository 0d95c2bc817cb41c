package stack

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/resources"
)

// scheduleEventProperties belong to an event of the type ScheduleV2.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
type scheduleEventProperties struct {
	object `ignored:"Description KmsKeyArn PermissionsBoundary RoleArn"`

	ScheduleExpression string `cfn:",required"`
	State              string `cfn:",default=ENABLED,oneof=ENABLED|DISABLED"`
	Name               string
	Input              string
	FlexibleTimeWindow struct {
		Mode string `cfn:",default=OFF,oneof=OFF"`
	}
	// RetryPolicy must be there, because the default on AWS is 185 attempts.
	RetryPolicy struct {
		object `ignored:"MaximumEventAgeInSeconds"`

		MaximumRetryAttempts string `cfn:",required,oneof=0"`
	}
}

// scheduleEvent adds the schedule that SAM makes of an event.
func (b *builder) scheduleEvent(ev eventProperties, f resources.Function) {
	var p scheduleEventProperties
	b.decodeEvent(ev, &p)
	s := resources.Schedule{
		Name: cmp.Or(p.Name, ev.id()), Function: f.Name, Enabled: p.State == "ENABLED", Input: p.Input,
		Expression: p.ScheduleExpression,
	}
	s.ARN = b.expand("arn:aws:scheduler:{region}:{account}:schedule/default/" + s.Name)
	if s.Expression != "" {
		var problem string
		if s.Every, problem = parseRate(s.Expression); problem != "" {
			p.problem("ScheduleExpression", "%q %s", s.Expression, problem)
		}
	}
	if strings.Contains(s.Input, "<aws.scheduler.") {
		p.problem("Input", "context attributes are %s", unsupported)
	}
	b.stack.Schedules = append(b.stack.Schedules, s)
}

var rate = regexp.MustCompile(`^rate\(([1-9][0-9]{0,5}) (minute|hour|day)s?\)$`)

// parseRate returns the period of an expression such as rate(5 minutes), or why it has none.
func parseRate(expression string) (every time.Duration, problem string) {
	parts := rate.FindStringSubmatch(expression)
	switch {
	case strings.HasPrefix(expression, "cron(") || strings.HasPrefix(expression, "at("):
		return 0, "is " + unsupported + ": use rate(…)"
	case parts == nil:
		return 0, "must be a rate such as rate(5 minutes), with the unit minute, hour or day"
	}
	count, _ := strconv.Atoi(parts[1]) // up to six digits
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[parts[2]]
	return time.Duration(count) * unit, ""
}
