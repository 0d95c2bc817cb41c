package stack

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// functionProperties: what is missing here (VpcConfig, Layers, ImageUri, FunctionUrlConfig, …) would change what a function
// sees or who can call it, and is refused.
var functionProperties = map[string]support{
	"CodeUri": runs, "Handler": runs, "Runtime": runs, "Architectures": runs, "PackageType": runs, "FunctionName": runs, "Description": runs,
	"MemorySize": runs, "Timeout": runs, "Environment": runs, "ReservedConcurrentExecutions": runs, "Events": runs,
	"EventInvokeConfig": runs,

	"AssumeRolePolicyDocument": inert, "AutoPublishAlias": inert, "AutoPublishAliasAllProperties": inert, "AutoPublishCodeSha256": inert,
	"CodeSigningConfigArn": inert, "DeploymentPreference": inert, "EphemeralStorage": inert, "KmsKeyArn": inert, "LoggingConfig": inert,
	"PermissionsBoundary": inert, "Policies": inert, "PropagateTags": inert, "ProvisionedConcurrencyConfig": inert, "RecursiveLoop": inert,
	"Role": inert, "RolePath": inert, "RuntimeManagementConfig": inert, "SnapStart": inert, "SourceKMSKeyArn": inert, "Tags": inert,
	"Tracing": inert, "VersionDeletionPolicy": inert, "VersionDescription": inert,
}

// eventInvokeProperties: a DestinationConfig is refused, for nothing here would send there.
var eventInvokeProperties = map[string]support{"MaximumRetryAttempts": runs, "MaximumEventAgeInSeconds": runs}

var environmentProperties = map[string]support{"Variables": runs}

func functionName(r *resolver, res *resource) string {
	return r.physicalName(res, "FunctionName", res.id)
}

func functionARN(r *resolver, res *resource) string {
	return r.arn("lambda", "function:"+functionName(r, res))
}

func (r *resolver) buildFunction(res *resource) {
	p := r.object(res.at().field("Properties"), res.properties, functionProperties)
	if p.n == nil {
		r.add(res.at(), res.line, "has no Properties")
		return
	}
	p.oneOf("PackageType", "Zip", "Zip")
	function := Function{
		LogicalID: res.id, Name: functionName(r, res), ARN: functionARN(r, res), Description: p.text("Description", ""),
		CodeURI: p.codeURI(), BuildMethod: r.buildMethod(res), Handler: p.required("Handler"),
		Runtime:      p.oneOf("Runtime", "", "provided.al2023", "provided.al2"),
		Architecture: p.architecture(),
		MemoryMB:     p.integer("MemorySize", 128, 128, 10240),
		Timeout:      time.Duration(p.integer("Timeout", 3, 1, 900)) * time.Second,
		Env:          p.environment(r.options.Overrides),
		Async:        p.eventInvokeConfig(),
	}
	if p.has("ReservedConcurrentExecutions") {
		// 0 shuts a function off on AWS: a template that asks for it has nothing to run here.
		function.ReservedConcurrency = p.integer("ReservedConcurrentExecutions", 1, 1, 100_000)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(function.Name) {
		r.add(res.at(), res.line, "%q can't be a function's name: letters, digits, - and _ only, 64 at most", function.Name)
	}
	r.stack.Functions = append(r.stack.Functions, function)
	r.buildEvents(p, function.Name)
}

// eventInvokeConfig reads what becomes of events that the function doesn't make, with Lambda's defaults.
// https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html
func (o object) eventInvokeConfig() AsyncInvoke {
	config := o.object("EventInvokeConfig", eventInvokeProperties)
	return AsyncInvoke{
		MaximumRetryAttempts: config.integer("MaximumRetryAttempts", 2, 0, 2),
		MaximumEventAge:      time.Duration(config.integer("MaximumEventAgeInSeconds", 21_600, 60, 21_600)) * time.Second,
	}
}

// schedulesOfFunctions tells each schedule how its function is invoked: a rule may stand before its function.
func (r *resolver) schedulesOfFunctions() {
	async := map[string]AsyncInvoke{}
	for _, f := range r.stack.Functions {
		async[f.Name] = f.Async
	}
	for i, s := range r.stack.Schedules {
		r.stack.Schedules[i].Async = async[s.Function]
	}
}

// codeURI is the folder with the source, in slashes and relative to the template.
func (o object) codeURI() string {
	before := o.r.found
	uri := o.required("CodeUri")
	switch {
	case o.r.found > before:
		return ""
	case strings.Contains(uri, "://") || path.IsAbs(uri) || path.Clean(uri) == ".." || strings.HasPrefix(path.Clean(uri), "../"):
		o.problem("CodeUri", "%q must be a folder inside the template's own", uri)
		return ""
	}
	return path.Clean(uri)
}

func (r *resolver) buildMethod(res *resource) string {
	method := res.metadata.get("BuildMethod")
	if method == nil {
		return ""
	}
	if method.kind != scalar || (method.text != "go1.x" && method.text != "makefile") {
		r.add(res.at().field("Metadata.BuildMethod"), method.line, "%q is %s, which knows go1.x and makefile", method.text, unsupported)
		return ""
	}
	return method.text
}

func (o object) architecture() string {
	architectures := o.texts("Architectures")
	switch {
	case architectures == nil:
		return "x86_64"
	case len(architectures) == 1 && (architectures[0] == "arm64" || architectures[0] == "x86_64"):
		return architectures[0]
	}
	o.problem("Architectures", "must be one of arm64 and x86_64")
	return ""
}

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)

// reservedVariables are those that Lambda sets itself and doesn't let a template set.
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_NAME",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME",
	"AWS_LAMBDA_LOG_STREAM_NAME", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	"AWS_LAMBDA_RUNTIME_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

// environment gives the function's variables; one of the platform's environment replaces that of the same name.
func (o object) environment(overrides map[string]string) map[string]string {
	environment := o.object("Environment", environmentProperties)
	variables := environment.textMap("Variables")
	size := 0
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		size += len(name) + len(variables[name])
		if slices.Contains(reservedVariables, name) {
			environment.problem("Variables", "Lambda sets %s itself", name)
		} else if !variableName.MatchString(name) {
			environment.problem("Variables", "%q can't be a variable's name on Lambda", name)
		}
		if override, set := overrides[name]; set {
			variables[name] = override
		}
	}
	if size > 4096 {
		environment.problem("Variables", "are larger than the 4,096 bytes that Lambda takes")
	}
	return variables
}
