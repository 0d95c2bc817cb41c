package stack

import (
	"encoding/json"
	"regexp"
	"time"

	"devplatform/infra/local/schedule/expression"
)

// What rules of EventBridge and schedules of EventBridge Scheduler have in common.

var (
	retryProperties      = map[string]support{"MaximumRetryAttempts": runs, "MaximumEventAgeInSeconds": runs}
	deadLetterProperties = map[string]support{"Arn": runs}
	// SAM makes a queue where it is told its type in place of an ARN.
	samDeadLetterProperties = with(deadLetterProperties, map[string]support{"Type": runs, "QueueLogicalId": runs})
)

// expression reads a schedule expression, and says what is wrong with it.
func (o object) expression(property string, dialect expression.Dialect, zone *time.Location) string {
	text := o.required(property)
	if text == "" {
		return text
	}
	if _, err := expression.Parse(text, dialect, zone); err != nil {
		o.problem(property, "%v", err)
	}
	return text
}

// zone reads the name of a time zone and finds the zone, UTC where there is none.
func (o object) zone(property string) (string, *time.Location) {
	name := o.text(property, utc)
	zone, err := expression.Zone(name)
	if err != nil {
		o.problem(property, "%v", err)
		return name, time.UTC
	}
	return name, zone
}

// maxScheduleName is how many characters the name of a rule or schedule may have.
const maxScheduleName = 64

var scheduleName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// placedSchedule is where the template has the schedule of an ARN.
type placedSchedule struct {
	at   place
	line int
	arn  string
}

// nameOfSchedule is the name of a rule or schedule that is a resource of its own.
func nameOfSchedule(r *resolver, res *resource) string {
	return namedWithin("Name", maxScheduleName)(r, res)
}

// addSchedule refuses a name that AWS would, or that another one has.
func (r *resolver) addSchedule(at place, line int, s Schedule) {
	if !scheduleName.MatchString(s.Name) {
		r.add(at, line, "%q can't be the name of a rule or schedule: letters, digits, ., - and _ only, 64 at most", s.Name)
	}
	for _, other := range r.schedules {
		if other.arn == s.ARN {
			r.add(at, line, "has the name %s, as %s has (line %d)", s.Name, other.at.subject, other.line)
			break
		}
	}
	r.schedules = append(r.schedules, placedSchedule{at, line, s.ARN})
	r.stack.Schedules = append(r.stack.Schedules, s)
}

// state is State, ENABLED unless it says otherwise.
func (o object) state() bool {
	const enabled, disabled = "ENABLED", "DISABLED"
	return o.oneOf("State", enabled, enabled, disabled) == enabled
}

// delivery reads what becomes of an event: its Input, how often it is tried, and where it goes then.
func (o object) delivery(s *Schedule, deadLetters map[string]support) {
	s.Input = o.text("Input", "")
	if s.Input != "" && !json.Valid([]byte(s.Input)) {
		o.problem("Input", "must be JSON text")
	}
	retry := o.object("RetryPolicy", retryProperties)
	s.MaximumRetryAttempts = retry.integer("MaximumRetryAttempts", 185, 0, 185)
	s.MaximumEventAge = time.Duration(retry.integer("MaximumEventAgeInSeconds", 86_400, 60, 86_400)) * time.Second
	s.DeadLetterQueue = o.deadLetterQueue(deadLetters)
}

func (o object) deadLetterQueue(known map[string]support) string {
	if !o.has("DeadLetterConfig") {
		return ""
	}
	config := o.object("DeadLetterConfig", known)
	for _, generated := range []string{"Type", "QueueLogicalId"} {
		if config.has(generated) {
			config.problem(generated, "a queue that SAM makes is %s: declare an %s and name it with Arn", unsupported, typeQueue)
			return ""
		}
	}
	arn := config.required("Arn")
	if arn == "" {
		return ""
	}
	return config.queue("Arn", arn)
}

// scheduleOfEvent gives the name of what SAM makes of a function's event of type Schedule or ScheduleV2, under the logical
// id that it gets.
func (r *resolver) scheduleOfEvent(id string) (name string, found bool) {
	for _, res := range r.resources {
		if res.typ != typeFunction || !r.active(res) {
			continue
		}
		events := res.properties.get("Events")
		if events == nil {
			continue
		}
		for _, f := range events.fields {
			typ := f.value.get("Type")
			if res.id+f.key != id || typ == nil || (typ.text != eventSchedule && typ.text != eventScheduleV2) {
				continue
			}
			fallback := r.generatedName(id, maxScheduleName)
			made := &resource{id: id, properties: f.value.get("Properties")}
			if typ.text == eventScheduleV2 && r.quiet(made, "OmitName", "false") != "true" {
				fallback = id
			}
			return r.quiet(made, "Name", fallback), true
		}
	}
	return "", false
}
