package stack

import "time"

var (
	eventAttributes    = map[string]support{"Type": runs, "Properties": runs}
	apiEventProperties = map[string]support{
		"Path": runs, "Method": runs, "RestApiId": runs, "ResponseTransferMode": runs, "TimeoutInMillis": runs,
	}
)

// eventSources are the kinds of events that reach a function here.
var eventSources = map[string]func(r *resolver, event object, function string){
	"Api": (*resolver).buildAPIEvent, "DynamoDB": (*resolver).buildStreamEvent, "SQS": (*resolver).buildQueueEvent,
	eventSchedule: (*resolver).buildScheduleEvent, eventScheduleV2: (*resolver).buildScheduleV2Event,
}

// buildEvents connects a function with what calls it.
func (r *resolver) buildEvents(p object, function string) {
	events := r.anyObject(p.at.field("Events"), p.n.get("Events"))
	if events.n == nil {
		return
	}
	for _, f := range events.n.fields {
		event := r.object(events.at.field(f.key), f.value, eventAttributes)
		if !logicalID.MatchString(f.key) { // what SAM makes of the event has it in its own
			r.add(events.at.field(f.key), f.line, "a logical id has letters and digits only, 255 at most")
			continue
		}
		typ := event.required("Type")
		connect := eventSources[typ]
		if connect == nil {
			event.problem("Type", "event source %s is %s", typ, unsupported)
			continue
		}
		connect(r, event, function)
	}
}

const (
	// integrationTimeout is the longest, and the usual, time that API Gateway waits for a function;
	// a streamed answer may take streamTimeout, which must be asked for.
	integrationTimeout = 29 * time.Second
	streamTimeout      = 15 * time.Minute
)

// buildAPIEvent adds a route to the API that the event names, or to the implicit one.
func (r *resolver) buildAPIEvent(event object, function string) {
	p := event.object("Properties", apiEventProperties)
	api := r.apiOf(p)
	route := Route{
		Method: method(p), Path: p.required("Path"), Function: function,
		Stream: p.oneOf("ResponseTransferMode", "BUFFERED", "BUFFERED", "RESPONSE_STREAM") == "RESPONSE_STREAM",
	}
	longest := integrationTimeout
	if route.Stream {
		longest = streamTimeout
	}
	millis := p.integer("TimeoutInMillis", int(integrationTimeout.Milliseconds()), 50, int(longest.Milliseconds()))
	route.Timeout = time.Duration(millis) * time.Millisecond
	if complaint := checkPath(route.Path); complaint != "" && route.Path != "" {
		p.problem("Path", "%q %s", route.Path, complaint)
		return
	}
	if api == nil || route.Method == "" || route.Path == "" {
		return
	}
	r.routes = append(r.routes, placedRoute{api: api.LogicalID, at: event.at, line: p.line("Path"), route: route})
}

// apiOf finds the API of an event. On AWS a RestApiId may come from elsewhere; here it must be in this template.
func (r *resolver) apiOf(p object) *API {
	id := restAPIID(r.options.StackName, implicitAPI)
	if p.has("RestApiId") {
		value := p.value("RestApiId")
		if value == nil {
			return nil
		}
		id = value.text
	}
	for i := range r.stack.APIs {
		if r.stack.APIs[i].ID == id {
			return &r.stack.APIs[i]
		}
	}
	if p.n != nil {
		p.problem("RestApiId", "must refer to an %s of this template", typeAPI)
	}
	return nil
}

// hasImplicitAPI tells whether some function has an Api event that names no API: then SAM makes one.
func (r *resolver) hasImplicitAPI() bool {
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
			if typ != nil && typ.text == "Api" && f.value.get("Properties").get("RestApiId") == nil {
				return true
			}
		}
	}
	return false
}
