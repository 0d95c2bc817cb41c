package stack

import (
	"time"

	"devplatform/infra/local/schedule/expression"
)

const (
	typeRule      = "AWS::Events::Rule"
	eventSchedule = "Schedule"

	utc        = "UTC"
	defaultBus = "default"
)

// ruleProperties: an EventPattern stands here to be refused with a reason.
var (
	ruleProperties = map[string]support{
		"Name": runs, "ScheduleExpression": runs, "State": runs, "Targets": runs, "EventPattern": runs, "EventBusName": runs,
		"Description": inert, "RoleArn": inert, "Tags": inert,
	}
	// targetProperties: InputPath and InputTransformer, and what only targets other than functions have, is refused.
	targetProperties = map[string]support{
		"Arn": runs, "Id": runs, "Input": runs, "RetryPolicy": runs, "DeadLetterConfig": runs, "RoleArn": inert,
	}
	scheduleEventProperties = map[string]support{
		"Schedule": runs, "Name": runs, "Enabled": runs, "State": runs, "Input": runs, "RetryPolicy": runs, "DeadLetterConfig": runs,
		"Description": inert,
	}
)

func ruleARN(r *resolver, res *resource) string {
	return r.arn("events", "rule/"+nameOfSchedule(r, res))
}

// buildScheduleEvent has one of a function's events fire it: SAM makes a rule of it.
func (r *resolver) buildScheduleEvent(event object, function string) {
	p := event.object("Properties", scheduleEventProperties)
	name := p.text("Name", r.generatedName(event.at.subject+event.at.last(), maxScheduleName))
	s := Schedule{
		Name: name, ARN: r.arn("events", "rule/"+name), Rule: true, Function: function,
		Expression: p.expression("Schedule", expression.Rule, time.UTC), Timezone: utc,
	}
	switch {
	case p.has("Enabled") && p.has("State"):
		p.problem("Enabled", "can't stand beside State: SAM takes one of them")
	case p.has("State"):
		s.Enabled = p.state()
	default:
		s.Enabled = p.boolean("Enabled", true)
	}
	p.delivery(&s, samDeadLetterProperties)
	r.addSchedule(event.at, event.line("Type"), s)
}

// buildRule builds CloudFormation's form, with one target: a rule without has no effect.
func (r *resolver) buildRule(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), ruleProperties)
	if p.has("EventPattern") {
		p.problem("EventPattern", "rules for events are %s, which knows those with a ScheduleExpression", unsupported)
		return
	}
	if bus := p.text("EventBusName", defaultBus); bus != defaultBus {
		p.problem("EventBusName", "%q: rules with a ScheduleExpression are on the bus %s, on AWS too", bus, defaultBus)
	}
	s := Schedule{
		Name: nameOfSchedule(r, res), ARN: ruleARN(r, res), Rule: true, Expression: p.expression("ScheduleExpression", expression.Rule, time.UTC), Timezone: utc, Enabled: p.state(),
	}
	targets := p.items("Targets")
	if len(targets) > 1 {
		p.problem("Targets", "a rule with several targets is %s: give each function a rule of its own", unsupported)
	}
	if len(targets) == 0 { // it fires at nothing
		return
	}
	target := r.object(p.at.field("Targets").index(0), targets[0], targetProperties)
	target.origin = targets[0].line
	target.required("Id")
	s.Function = target.targetFunction()
	target.delivery(&s, deadLetterProperties)
	r.addSchedule(res.at(), res.line, s)
}

// targetFunction finds the function whose ARN is a target's.
func (o object) targetFunction() string {
	arn := o.required("Arn")
	if arn == "" {
		return ""
	}
	if function, _, found := o.r.functionByARN(arn); found {
		return function
	}
	o.problem("Arn", "must be the Arn of a function of this template: other targets are %s", unsupported)
	return ""
}
