package stack

import (
	"maps"
	"path"
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
	_ struct{} `ignored:"AssumeRolePolicyDocument AutoPublishAliasAllProperties"`
	_ struct{} `ignored:"AutoPublishCodeSha256 CodeSigningConfigArn DeploymentPreference PermissionsBoundary Policies"`
	_ struct{} `ignored:"PropagateTags RecursiveLoop Role RolePath VersionDeletionPolicy VersionDescription"`
	_ struct{} `noted:"EphemeralStorage KmsKeyArn LoggingConfig ProvisionedConcurrencyConfig"`
	_ struct{} `noted:"RuntimeManagementConfig SnapStart SourceKMSKeyArn Tags Tracing VpcConfig"`

	CodeURI       string `cfn:"CodeUri,required"`
	Handler       string `cfn:",required"`
	Runtime       string `cfn:",required,oneof=provided.al2023|provided.al2"`
	PackageType   string `cfn:",default=Zip,oneof=Zip"`
	Architectures []string
	FunctionName  string
	Description   string
	// AutoPublishAlias is the name of the alias, which has the only version.
	AutoPublishAlias string
	MemorySize       int           `cfn:",default=128,min=128,max=10240"`
	Timeout          time.Duration `cfn:",default=3,min=1,max=900"`
	Environment      struct{ Variables map[string]string }
	// ReservedConcurrentExecutions 0 would switch the function off.
	ReservedConcurrentExecutions int                   `cfn:",min=1,max=100000"`
	EventInvokeConfig            resources.AsyncInvoke // other properties, such as DestinationConfig, are not supported
	Events                       *node
}

func (b *builder) function(res *resource) {
	if res.properties == nil {
		b.add(res.at(), res.line, "has no Properties")
		return
	}
	var p functionProperties
	b.decodeProperties(res, &p)
	function := resources.Function{
		LogicalID: res.id, Name: b.nameOf(res), Description: p.Description, CodeURI: p.codeURI(),
		Handler: p.Handler, Runtime: p.Runtime, Architecture: p.architecture(),
		MemoryMB: p.MemorySize, Timeout: p.Timeout, Env: p.environment(b.options.Overrides), Async: p.EventInvokeConfig,
		ReservedConcurrency: p.ReservedConcurrentExecutions, Alias: p.AutoPublishAlias,
	}
	b.stack.Functions = append(b.stack.Functions, function)
	b.checkBuildMethod(res)
	b.events(p.property("Events"), function)
}

// codeURI returns the folder with the source, with slashes and relative to the template.
func (p *functionProperties) codeURI() string {
	if p.CodeURI == "" {
		return ""
	}
	clean := path.Clean(p.CodeURI)
	if strings.Contains(p.CodeURI, "://") || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		p.problem("CodeUri", "%q must be a folder in the template's folder", p.CodeURI)
	}
	return clean
}

// checkBuildMethod reports a build method of another language. All functions are built by the go command.
func (b *builder) checkBuildMethod(res *resource) {
	method := res.metadata.get("BuildMethod")
	if method != nil && method.text != "go1.x" && method.text != "makefile" {
		b.add(res.at().field("Metadata.BuildMethod"), method.line, "%q is %s: use go1.x or makefile", method.text,
			unsupported)
	}
}

func (p *functionProperties) architecture() string {
	if p.Architectures == nil {
		return "x86_64"
	}
	if len(p.Architectures) != 1 || (p.Architectures[0] != "arm64" && p.Architectures[0] != "x86_64") {
		p.problem("Architectures", "must be [arm64] or [x86_64]")
		return ""
	}
	return p.Architectures[0]
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

// eventSchedule is the event type of EventBridge Scheduler. SAM makes a schedule of it.
const eventSchedule = "ScheduleV2"

// events connects a function with what invokes it.
func (b *builder) events(events object, f resources.Function) {
	if events.n == nil || !events.is(mapping, "must be a mapping") {
		return
	}
	for _, entry := range events.n.fields {
		var ev eventProperties
		b.decode(events.at.field(entry.key), entry.line, entry.value, &ev)
		if !logicalID.MatchString(entry.key) { // what SAM makes of the event has it in its logical id
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
		case eventSchedule:
			b.scheduleEvent(ev, f)
		case "":
		case "Schedule":
			ev.problem("Type", "event source Schedule is %s: use %s", unsupported, eventSchedule)
		default:
			ev.problem("Type", "event source %s is %s", ev.Type, unsupported)
		}
	}
}

// decodeEvent reads the properties of an event into the struct that into points to.
func (b *builder) decodeEvent(ev eventProperties, into any) {
	b.decode(ev.at.field("Properties"), ev.lineOf("Properties"), ev.Properties, into)
}

// id returns the logical id of what SAM makes of an event.
func (ev eventProperties) id() string { return ev.at.subject + ev.at.last() }
