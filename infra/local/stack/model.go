package stack

import "time"

// Stack is a resolved template: nothing in it refers to anything any more. All lists are in the template's order.
type Stack struct {
	// Name is the stack's name, the prefix of the physical names of its resources.
	Name string
	// Region and Account are those of the names and ARNs in the stack.
	Region, Account string
	// Dir is the folder of the template: CodeURI of a function is relative to it.
	Dir string

	Functions []Function
	APIs      []API
	Tables    []Table
	Secrets   []Secret
	// EventSourceMappings are the streams that functions read.
	EventSourceMappings []EventSourceMapping

	// Outputs holds the template's outputs that can be known without AWS, by their logical id.
	Outputs map[string]string
}

// Function is a Lambda function (AWS::Serverless::Function).
type Function struct {
	// LogicalID is the resource's name in the template.
	LogicalID string
	// Name is the function's name: FunctionName where the template sets it, else the logical id,
	// so that `aws lambda invoke --function-name AuthFunction` finds it.
	Name string
	// ARN is the function's unqualified ARN.
	ARN         string
	Description string
	// CodeURI is the folder of the function's source as the template gives it, relative to Stack.Dir.
	CodeURI string
	// BuildMethod is the resource's Metadata.BuildMethod: "go1.x", "makefile" or "" where there is none.
	BuildMethod string
	// Handler and Runtime are AWS's: the runtime is one of the provided.* family.
	Handler, Runtime string
	// Architecture is "arm64" or "x86_64".
	Architecture string
	// MemoryMB is 128 to 10,240.
	MemoryMB int
	// Timeout is 1 s to 900 s.
	Timeout time.Duration
	// Env is the function's own environment, overrides applied; Lambda's variables aren't in it.
	Env map[string]string
	// ReservedConcurrency caps the function's instances; 0 where the template sets no cap.
	ReservedConcurrency int
}

// API is a REST API with its one stage (AWS::Serverless::Api, or SAM's implicit ServerlessRestApi).
type API struct {
	LogicalID string
	// ID is what Ref gives: ten lower-case characters, as on AWS.
	ID string
	// Name is the API's name: the Name property, else the stack's name as SAM has it.
	Name string
	// Stage is the stage's name.
	Stage string
	// Routes are the API's methods: no method stands twice on one path.
	Routes []Route
	// GatewayResponses are keyed by AWS's response type, such as "MISSING_AUTHENTICATION_TOKEN" or "DEFAULT_4XX".
	GatewayResponses map[string]GatewayResponse
	// BinaryMediaTypes are media types or patterns such as "*/*" and "image/*".
	BinaryMediaTypes []string
	// Variables are the stage's variables, which functions see as stageVariables.
	Variables map[string]string
}

// Route is one method on one path.
type Route struct {
	// Method is an HTTP method in capitals, or "ANY".
	Method string
	// Path is a pattern such as "/api/auth", "/api/users/{id}" or "/api/auth/{proxy+}".
	Path string
	// Function is the Name of the function that answers.
	Function string
	// Stream tells that the answer is streamed (ResponseTransferMode RESPONSE_STREAM).
	Stream bool
	// Timeout is the integration's: 29 s unless TimeoutInMillis says otherwise.
	Timeout time.Duration
}

// GatewayResponse is what the gateway itself answers for one type of failure.
type GatewayResponse struct {
	// StatusCode is 0 where the template leaves it to the type's own.
	StatusCode int
	// Headers maps a header to its value as the template gives it: "'a literal'" or "context.requestId".
	Headers map[string]string
	// Templates maps a media type to a body template.
	Templates map[string]string
}

// Table is a DynamoDB table (AWS::DynamoDB::Table, AWS::Serverless::SimpleTable).
type Table struct {
	LogicalID, Name, ARN string
	Attributes           []Attribute
	// Key has the partition key and, where there is one, the sort key, in this order.
	Key     []KeyPart
	Indexes []Index
	// TTLAttribute is "" where items don't expire.
	TTLAttribute string
	// StreamViewType is DynamoDB's ("NEW_IMAGE", "KEYS_ONLY", …), "" where the table has no stream.
	StreamViewType string
	// BillingMode is "PAY_PER_REQUEST" or "PROVISIONED"; with the latter ReadUnits and WriteUnits are set.
	BillingMode           string
	ReadUnits, WriteUnits int64
}

// Attribute is a key attribute of a table or of one of its indexes. Type is "S", "N" or "B".
type Attribute struct{ Name, Type string }

// KeyPart is one attribute of a key. Type is "HASH" or "RANGE".
type KeyPart struct{ Name, Type string }

// Index is a global secondary index.
type Index struct {
	Name string
	Key  []KeyPart
	// Projection is "ALL", "KEYS_ONLY" or "INCLUDE"; with the latter NonKeyAttributes says what.
	Projection            string
	NonKeyAttributes      []string
	ReadUnits, WriteUnits int64
}

// EventSourceMapping lets a function read a table's stream (SAM's event type DynamoDB, AWS::Lambda::EventSourceMapping).
// Defaults are applied: the fields say what happens.
type EventSourceMapping struct {
	// Name is the mapping's logical id; SAM's is the function's followed by the event's.
	Name string
	// Function is the Name of the function.
	Function string
	// Table is the Name of the table whose stream is read. Which ARN the stream has is known once the table exists.
	Table   string
	Enabled bool
	// StartingPosition is where a mapping without a stored position begins: "TRIM_HORIZON" or "LATEST".
	StartingPosition string
	// BatchSize is the largest number of records in an invocation, 1 to 10,000; BatchingWindow how long to gather them,
	// up to 5 min.
	BatchSize      int
	BatchingWindow time.Duration
	// Filters are patterns as JSON text, of which a record must match one; none: every record counts.
	Filters []string
	// ParallelizationFactor is the number of batches in flight per shard, 1 to 10; records of one item stay in order.
	ParallelizationFactor int
	// ReportBatchItemFailures tells that the function names the records that failed.
	ReportBatchItemFailures bool
	// BisectOnError halves a batch whose invocation failed.
	BisectOnError bool
	// MaximumRetryAttempts is how often a batch is tried again, 0 to 10,000; -1: until its records are too old.
	MaximumRetryAttempts int
	// MaximumRecordAge is 1 min to 7 days; 0: as long as the stream keeps a record.
	MaximumRecordAge time.Duration
}

// Secret is a secret of Secrets Manager (AWS::SecretsManager::Secret).
type Secret struct {
	LogicalID, Name string
	// ARN is the full one, its six random characters derived from the name: see [SecretARN].
	ARN         string
	Description string
	// Generate says how the first value is made. Where it is nil, Literal is the value; both empty: a secret without a value.
	Generate *GenerateSecretString
	Literal  string
}

// GenerateSecretString has the meaning and the defaults of the CloudFormation property of this name.
type GenerateSecretString struct {
	// Length is the length of the generated string, 32 unless set, at most 4,096.
	Length int
	// ExcludeCharacters are never generated.
	ExcludeCharacters                                                      string
	ExcludeLowercase, ExcludeUppercase, ExcludeNumbers, ExcludePunctuation bool
	IncludeSpace                                                           bool
	// RequireEachIncludedType asks for one character of every type at least; on unless the template says no.
	RequireEachIncludedType bool
	// Template is a JSON object that gets the generated string under Key; both are set or neither is.
	Template, Key string
}

// Options say under which circumstances a template is resolved.
type Options struct {
	// StackName, Region and Account are the values of the pseudo parameters. Empty ones are "local", "us-east-1" and "000000000000".
	StackName, Region, Account string
	// Parameters are values for the template's parameters; the others have their defaults.
	Parameters map[string]string
	// Overrides are variables of the platform's environment: each replaces the variable of the same name
	// in every function to which the template gives one.
	Overrides map[string]string
}
