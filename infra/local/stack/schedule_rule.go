package stack

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

func ruleName(r *resolver, res *resource) string { return named("Name")(r, res) }

func ruleARN(r *resolver, res *resource) string { return r.arn("events", "rule/"+ruleName(r, res)) }

// buildScheduleEvent has one of a function's events fire it: SAM makes a rule of it.
func (r *resolver) buildScheduleEvent(event object, function string) {
	p := event.object("Properties", scheduleEventProperties)
	name := p.text("Name", r.options.StackName+"-"+event.at.subject+event.at.last())
	s := Schedule{
		Name: name, ARN: r.arn("events", "rule/"+name), Rule: true, Function: function,
		Expression: p.required("Schedule"), Timezone: utc,
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

// buildRule builds CloudFormation's form. Each of its targets is a schedule of its own.
func (r *resolver) buildRule(res *resource) {
	p := r.object(res.at().field("Properties"), orEmpty(res), ruleProperties)
	if p.has("EventPattern") {
		p.problem("EventPattern", "rules for events are %s, which knows those with a ScheduleExpression", unsupported)
		return
	}
	if bus := p.text("EventBusName", defaultBus); bus != defaultBus {
		p.problem("EventBusName", "%q: rules with a ScheduleExpression are on the bus %s, on AWS too", bus, defaultBus)
	}
	rule := Schedule{
		Name: ruleName(r, res), ARN: ruleARN(r, res), Rule: true, Expression: p.required("ScheduleExpression"), Timezone: utc, Enabled: p.state(),
	}
	const most = 5
	targets := p.items("Targets")
	if len(targets) > most {
		p.problem("Targets", "AWS takes %d at most, these are %d", most, len(targets))
	}
	ids := map[string]bool{}
	for i, item := range targets {
		target := r.object(p.at.field("Targets").index(i), item, targetProperties)
		target.origin = item.line
		s := rule
		s.Function = target.targetFunction()
		target.delivery(&s, deadLetterProperties)
		if id := target.required("Id"); id != "" && ids[id] {
			target.problem("Id", "two targets have the Id %s", id)
		} else {
			ids[id] = true
		}
		r.addSchedule(res.at(), res.line, s)
	}
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
