package stack

import (
	"time"

	"devplatform/infra/local/schedule/expression"
)

const (
	typeSchedule      = "AWS::Scheduler::Schedule"
	typeScheduleGroup = "AWS::Scheduler::ScheduleGroup"
	eventScheduleV2   = "ScheduleV2"

	defaultGroup = "default"
)

var (
	// timing are the properties that SAM's and CloudFormation's forms have beside the target's.
	timing = map[string]support{
		"ScheduleExpression": runs, "ScheduleExpressionTimezone": runs, "State": runs, "Name": runs, "GroupName": runs,
		"FlexibleTimeWindow": runs, "StartDate": runs, "EndDate": runs,

		"Description": inert, "KmsKeyArn": inert,
	}
	scheduleProperties        = with(timing, map[string]support{"Target": runs})
	scheduleV2EventProperties = with(timing, map[string]support{
		"Input": runs, "RetryPolicy": runs, "DeadLetterConfig": runs, "OmitName": runs,
		"RoleArn": inert, "PermissionsBoundary": inert,
	})
	// scheduleTargetProperties: those of targets other than functions are refused.
	scheduleTargetProperties = map[string]support{
		"Arn": runs, "RoleArn": runs, "Input": runs, "RetryPolicy": runs, "DeadLetterConfig": runs,
	}
	windowProperties = map[string]support{"Mode": runs, "MaximumWindowInMinutes": runs}
)

// buildScheduleV2Event has one of a function's events fire it: SAM makes a schedule of it, named as the resource is unless
// the template says otherwise.
func (r *resolver) buildScheduleV2Event(event object, function string) {
	p := event.object("Properties", scheduleV2EventProperties)
	id := event.at.subject + event.at.last()
	name := p.text("Name", id)
	if p.boolean("OmitName", false) {
		if p.has("Name") {
			p.problem("OmitName", "can't stand beside Name")
		}
		name = r.generatedName(id, maxScheduleName)
	}
	s := p.timing(name)
	s.Function = function
	p.delivery(&s, samDeadLetterProperties)
	r.addSchedule(event.at, event.line("Type"), s)
}

func (r *resolver) buildSchedule(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), scheduleProperties)
	if !p.has("FlexibleTimeWindow") {
		p.problem("FlexibleTimeWindow", "is missing")
	}
	s := p.timing(nameOfSchedule(r, res))
	target := p.object("Target", scheduleTargetProperties)
	s.Function = target.targetFunction()
	target.required("RoleArn")
	target.delivery(&s, deadLetterProperties)
	r.addSchedule(res.at(), res.line, s)
}

func scheduleARN(r *resolver, res *resource) string {
	return r.arn("scheduler", "schedule/"+r.quiet(res, "GroupName", defaultGroup)+"/"+nameOfSchedule(r, res))
}

// timing reads when a schedule fires, with the defaults of EventBridge Scheduler.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
func (o object) timing(name string) Schedule {
	zoneName, zone := o.zone("ScheduleExpressionTimezone")
	s := Schedule{
		Name: name, ARN: o.r.arn("scheduler", "schedule/"+o.text("GroupName", defaultGroup)+"/"+name),
		Expression: o.expression("ScheduleExpression", expression.Scheduler, zone), Timezone: zoneName, Enabled: o.state(),
		Start: o.date("StartDate"), End: o.date("EndDate"), FlexibleWindow: o.flexibleWindow(),
	}
	if !s.End.IsZero() && !s.End.After(s.Start) {
		o.problem("EndDate", "must come after StartDate")
	}
	return s
}

// date is a moment; zero where there is none.
func (o object) date(name string) time.Time {
	if !o.has(name) {
		return time.Time{}
	}
	text := o.text(name, "")
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		o.problem(name, "%q must be a time such as 2026-11-21T10:00:00Z", text)
	}
	return moment
}

func (o object) flexibleWindow() time.Duration {
	const off, flexible, length = "OFF", "FLEXIBLE", "MaximumWindowInMinutes"
	if !o.has("FlexibleTimeWindow") {
		return 0
	}
	window := o.object("FlexibleTimeWindow", windowProperties)
	if window.required("Mode") == "" {
		return 0
	}
	mode := window.oneOf("Mode", off, off, flexible)
	if (mode == flexible) != window.has(length) {
		window.problem(length, "stands with Mode %s, and only there", flexible)
		return 0
	}
	if mode == off {
		return 0
	}
	return time.Duration(window.integer(length, 1, 1, 1440)) * time.Minute
}
