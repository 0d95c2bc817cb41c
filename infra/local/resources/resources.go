// Package resources describes what the local platform runs: functions, APIs with their routes, tables, queues, buckets,
// secrets, event source mappings and schedules. The package stack reads them from a template. The packages that run
// them know only this package.
//
// What may not enter: how a template is read, except the tags for its decoder, and how a resource works.
package resources

import "time"

// Stack is a resolved template, without references. All lists are in the order of the template.
type Stack struct {
	// Region is the region of the ARNs in the stack.
	Region string
	// Dir is the absolute path of the template's folder.
	Dir string

	Functions           []Function
	APIs                []API
	Tables              []Table
	Queues              []Queue
	Secrets             []Secret
	Buckets             []Bucket
	EventSourceMappings []EventSourceMapping
	Schedules           []Schedule
}

// Function is a Lambda function (AWS::Serverless::Function).
type Function struct {
	LogicalID string
	// Name is the logical id, so that `aws lambda invoke --function-name AuthFunction` finds it.
	Name string
	// Alias is the name of the function's alias (AutoPublishAlias), "" if it has none.
	Alias string
	// CodeURI is the folder of the source, relative to Stack.Dir.
	CodeURI string
	Handler string
	// MemoryMB is 128 to 10,240.
	MemoryMB int
	// Timeout is 1 s to 900 s.
	Timeout time.Duration
	// Env are the variables that the template sets for the function, with overrides. It does not have Lambda's own
	// variables.
	Env map[string]string
	// ReservedConcurrency limits the function's instances. 0 means no limit.
	ReservedConcurrency int
}

// API is a REST API with its stage (AWS::Serverless::Api).
type API struct {
	LogicalID string
	// ID is the value of Ref: ten lower-case characters, as on AWS.
	ID string
	// Name is the Name property or, as in SAM, the stack's name.
	Name  string
	Stage string
	// Routes are the API's methods. A path has a method once.
	Routes []Route
	// GatewayResponses are keyed by AWS's response type, such as "MISSING_AUTHENTICATION_TOKEN" or "DEFAULT_4XX".
	GatewayResponses map[string]GatewayResponse
	// IsBinary means that all media types are binary (BinaryMediaTypes */*).
	IsBinary bool
	// Domains are the custom domain names that the template maps to the API (AWS::ApiGateway::BasePathMapping), such as
	// "api.example.com" or "*.example.app".
	Domains []string
}

// Route is one method of one path.
type Route struct {
	// Method is an HTTP method in capitals, or "ANY".
	Method string
	// Path is a pattern such as "/api/auth", "/api/users/{id}" or "/api/auth/{proxy+}".
	Path string
	// Function is the Name of the function.
	Function string
	// Stream means that the response is streamed (ResponseTransferMode RESPONSE_STREAM).
	Stream bool
	// Timeout is the time-out of the integration.
	Timeout time.Duration
}

// GatewayResponse is the gateway's own response to a type of failure.
type GatewayResponse struct {
	// StatusCode is 0 for the default of the type.
	StatusCode int
	// Headers maps a header to a value as in the template: "'a literal'" or "context.requestId".
	Headers map[string]string
	// MediaType and Body are "" for the default of the type.
	MediaType, Body string
}

// Table is a DynamoDB table (AWS::DynamoDB::Table).
type Table struct {
	LogicalID, Name string
	Attributes      []Attribute
	// Key is the partition key, and then the sort key if there is one.
	Key     []KeyPart
	Indexes []Index
	// TTLAttribute is "" if items do not expire.
	TTLAttribute string
	// StreamViewType is DynamoDB's ("NEW_IMAGE", "KEYS_ONLY", …), "" if the table has no stream.
	StreamViewType string
}

// Attribute is a key attribute of a table or of one of its indexes. Type is "S", "N" or "B".
type Attribute struct {
	Name string `cfn:"AttributeName,required"`
	Type string `cfn:"AttributeType,required,oneof=S|N|B"`
}

// KeyPart is one attribute of a key. Type is "HASH" or "RANGE".
type KeyPart struct {
	Name string `cfn:"AttributeName,required"`
	Type string `cfn:"KeyType,required,oneof=HASH|RANGE"`
}

// Index is a global secondary index.
type Index struct {
	_ struct{} `ignored:"ContributorInsightsSpecification OnDemandThroughput ProvisionedThroughput WarmThroughput"`

	Name       string    `cfn:"IndexName,required"`
	Key        []KeyPart `cfn:"KeySchema"`
	Projection Projection
}

// Projection selects the attributes of an index. NonKeyAttributes belong to the type "INCLUDE".
type Projection struct {
	Type             string `cfn:"ProjectionType,required,oneof=ALL|KEYS_ONLY|INCLUDE"`
	NonKeyAttributes []string
}

// Queue is a standard queue of SQS (AWS::SQS::Queue).
type Queue struct {
	LogicalID, Name, ARN string
	// URL is the value of Ref: Options.QueueEndpoint, the account and the name.
	URL string
	// Attributes are the attributes that the template sets, as in CreateQueue ("VisibilityTimeout": "180",
	// "RedrivePolicy": JSON). Other attributes have SQS's defaults.
	Attributes map[string]string
}

// EventSourceMapping lets a function read a table's stream or a queue (SAM's event types DynamoDB and SQS). The
// function returns the items that failed (ReportBatchItemFailures). A mapping of a stream begins at the oldest record,
// and splits a batch whose invocation failed (BisectBatchOnFunctionError).
type EventSourceMapping struct {
	// Name is the mapping's logical id: the id of the function followed by the id of the event.
	Name string
	// Function is the Name of the function.
	Function string
	// BatchSize is the maximum number of records in an invocation.
	BatchSize int

	// Queue is the Name of the queue, "" if Table is set. MaximumConcurrency is the maximum number of its batches in
	// flight.
	Queue              string
	MaximumConcurrency int

	// Table is the Name of the table whose stream is read, "" if Queue is set. The ARN of the stream is only known when
	// the table exists.
	Table string
	// BatchingWindow is how long to gather records, up to 5 min.
	BatchingWindow time.Duration
	// Filters are patterns as JSON text. A record must match one of them. Without filters, every record matches.
	Filters []string
	// ParallelizationFactor is the number of batches in flight per shard, 1 to 10. Records of one item stay in order.
	ParallelizationFactor int
	// MaximumRecordAge is 1 min to 7 days. Older records are discarded.
	MaximumRecordAge time.Duration
	// OnFailureQueue is the Name of the queue that gets a message about discarded records.
	OnFailureQueue string
}

// Schedule is a schedule of EventBridge Scheduler (SAM's event type ScheduleV2), with the defaults applied.
type Schedule struct {
	Name, ARN string
	// Function is the Name of the function.
	Function string
	Enabled  bool
	// Expression is the text in the template, such as "rate(1 minute)". Every is its period.
	Expression string
	Every      time.Duration
	// Input is the JSON that the function gets, "" for the service's own event.
	Input string
}

// Secret is a secret of Secrets Manager (AWS::SecretsManager::Secret).
type Secret struct {
	LogicalID, Name string
	// ARN is the full ARN: see [SecretARN].
	ARN         string
	Description string
	Generate    GenerateSecretString
}

// GenerateSecretString describes a secret's first value: the JSON object Template, with a random string of Length
// characters as the member Key.
type GenerateSecretString struct {
	Template string `cfn:"SecretStringTemplate,required"`
	Key      string `cfn:"GenerateStringKey,required"`
	Length   int    `cfn:"PasswordLength,default=32,min=1,max=4096"`
	// ExcludePunctuation must be true: the string has letters and digits.
	ExcludePunctuation string `cfn:",required,oneof=true"`
}

// Bucket is a bucket of S3 (AWS::S3::Bucket).
type Bucket struct {
	LogicalID, Name string
	CORS            []CORSRule
}

// CORSRule lets pages of other origins use a bucket.
type CORSRule struct {
	ID             string   `cfn:"Id"`
	AllowedOrigins []string `cfn:",required"`
	AllowedMethods []string `cfn:",required"`
	AllowedHeaders []string
	ExposedHeaders []string
	// MaxAge is how many seconds a browser keeps the response to a preflight request; 0: the browser's default.
	MaxAge int `cfn:",max=2147483647"`
}
