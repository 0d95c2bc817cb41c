package stack

import (
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/resources"
)

// functionProperties are the properties of a function. Layers, ImageUri, FunctionUrlConfig and others are missing: they
// would change what a function sees, or who can call it.
type functionProperties struct {
	object
	_ struct{} `ignored:"AutoPublishAliasAllProperties DeploymentPreference EphemeralStorage EventInvokeConfig"`
	_ struct{} `ignored:"LoggingConfig Policies ProvisionedConcurrencyConfig Role Tags Tracing"`

	CodeURI          string   `cfn:"CodeUri,required"`
	Handler          string   `cfn:",required"`
	Runtime          string   `cfn:",required,oneof=provided.al2023"`
	Architectures    []string `cfn:",oneof=arm64|x86_64"`
	Description      string
	AutoPublishAlias string
	MemorySize       int           `cfn:",default=128,min=128,max=10240"`
	Timeout          time.Duration `cfn:",default=3,min=1,max=900"`
	Environment      struct{ Variables map[string]string }
	// ReservedConcurrentExecutions 0 would switch the function off.
	ReservedConcurrentExecutions int `cfn:",min=1,max=100000"`
	Events                       *node
}

func (b *builder) function(res *resource) {
	var p functionProperties
	b.decodeProperties(res, &p)
	function := resources.Function{
		LogicalID: res.id, Name: res.id, CodeURI: path.Clean(p.CodeURI),
		Handler: p.Handler, MemoryMB: p.MemorySize, Timeout: p.Timeout,
		Env: p.environment(b.options.Overrides), ReservedConcurrency: p.ReservedConcurrentExecutions,
		Alias: p.AutoPublishAlias,
	}
	if strings.Contains(p.CodeURI, "://") || !filepath.IsLocal(function.CodeURI) {
		p.problem("CodeUri", "%q must be a folder in the template's folder", p.CodeURI)
	}
	b.stack.Functions = append(b.stack.Functions, function)
	b.events(p.property("Events"), function)
}

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)

// environment returns the function's variables. An override replaces a variable that the template sets,
// and never adds one.
func (p *functionProperties) environment(overrides map[string]string) map[string]string {
	variables, size := p.Environment.Variables, 0
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		size += len(name) + len(variables[name])
		if !variableName.MatchString(name) {
			p.problem("Environment.Variables", "%q is not a valid name of a variable on Lambda", name)
		}
		if override, set := overrides[name]; set {
			variables[name] = override
		}
	}
	if size > 4096 {
		p.problem("Environment.Variables", "are larger than Lambda's limit of 4,096 bytes")
	}
	return variables
}

type eventProperties struct {
	object

	Type       string `cfn:",required"`
	Properties *node
}

// events connects a function with what invokes it.
func (b *builder) events(events object, f resources.Function) {
	if events.n == nil || !events.is(mapping, "must be a mapping") {
		return
	}
	for _, entry := range events.n.fields {
		var ev eventProperties
		b.decode(events.at.field(entry.key), entry.line, entry.value, &ev)
		if !logicalID.MatchString(entry.key) { // SAM makes a logical id of the event's name
			b.add(ev.at, entry.line, logicalIDRule)
			continue
		}
		switch ev.Type {
		case "Api":
			b.apiEvent(ev, f)
		case "DynamoDB":
			b.streamEvent(ev, f)
		case "SQS":
			b.queueEvent(ev, f)
		case "ScheduleV2":
			b.scheduleEvent(ev, f)
		case "": // decode has reported this
		default:
			ev.problem("Type", "event source %s is %s", ev.Type, unsupported)
		}
	}
}

// decodeEvent reads the properties of an event into the struct that into points to.
func (b *builder) decodeEvent(ev eventProperties, into any) {
	b.decode(ev.at.field("Properties"), ev.lineOf("Properties"), ev.Properties, into)
}

// id returns the logical id of the resource that SAM creates for an event.
func (ev eventProperties) id() string { return ev.at.subject + ev.at.last() }
