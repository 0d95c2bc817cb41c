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
	Queues    []Queue
	Secrets   []Secret
	Buckets   []Bucket
	// EventSourceMappings are the streams and queues that functions read.
	EventSourceMappings []EventSourceMapping
	// Schedules are what invokes functions by the clock.
	Schedules []Schedule

	// Outputs holds the template's outputs that can be known without AWS, by their logical id.
	Outputs map[string]string

	// Notices are messages for the log: properties that have no effect on the local platform, and SDKs that do not use it.
	Notices []string
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
	// ModuleDir is the absolute path of the folder of the go.mod in or above CodeURI, "" if there is none. PackageDir is
	// the function's package relative to it, as the go command takes it: "." or "./functions/auth". [Load] sets both.
	ModuleDir, PackageDir string
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
	// Async is what Lambda does with events that the function fails at.
	Async AsyncInvoke
}

// AsyncInvoke limits the retries of an asynchronous invocation that failed (SAM's EventInvokeConfig).
// https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html
type AsyncInvoke struct {
	MaximumRetryAttempts int `cfn:",default=2,min=0,max=2"`
	// MaximumEventAge is the time after which the event is discarded.
	MaximumEventAge time.Duration `cfn:"MaximumEventAgeInSeconds,default=21600,min=60,max=21600"`
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
	// Domains are the custom domain names that the template maps to the API (AWS::ApiGateway::BasePathMapping), such as
	// "api.example.com" or "*.example.app".
	Domains []string
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
	Name string
	Key  []KeyPart
	// Projection is "ALL", "KEYS_ONLY" or "INCLUDE"; with the latter NonKeyAttributes says what.
	Projection            string
	NonKeyAttributes      []string
	ReadUnits, WriteUnits int64
}

// Queue is a standard queue of SQS (AWS::SQS::Queue).
type Queue struct {
	// LogicalID is the resource's name in the template, Name the queue's.
	LogicalID, Name string
	// ARN is what GetAtt Arn gives, URL what Ref gives: Options.QueueEndpoint, the account and the name.
	ARN, URL string
	// Attributes are those that the template sets, named and written as CreateQueue takes them ("VisibilityTimeout": "180",
	// "RedrivePolicy": JSON). What is absent has SQS's default.
	Attributes map[string]string
}

// EventSourceMapping lets a function read a table's stream or a queue (SAM's event types DynamoDB and SQS,
// AWS::Lambda::EventSourceMapping). Defaults are applied: the fields say what happens.
type EventSourceMapping struct {
	// Name is the mapping's logical id; SAM's is the function's followed by the event's.
	Name string
	// Function is the Name of the function.
	Function string
	// Table is the Name of the table whose stream is read, "" where Queue is set. Which ARN the stream has is known once the
	// table exists.
	Table string
	// Queue is the Name of the queue that is read, "" where Table is set. Of the fields below it has Enabled, BatchSize,
	// BatchingWindow, Filters, ReportBatchItemFailures and MaximumConcurrency.
	Queue   string
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
	// OnFailureQueue is the Name of the queue that is told of a stream's records that are given up, "" for none.
	OnFailureQueue string
	// MaximumConcurrency is the most batches of a queue in flight at once, 2 to 1,000; 0: no bound but the function's own.
	MaximumConcurrency int
}

// Schedule invokes a function by the clock: a rule of EventBridge (SAM's event type Schedule) or a schedule of EventBridge
// Scheduler (ScheduleV2). Defaults are applied.
type Schedule struct {
	// Name is the rule's or the schedule's, ARN its ARN.
	Name, ARN string
	// Rule tells that it is a rule: the two send different events.
	Rule bool
	// Function is the Name of the function.
	Function string
	Enabled  bool
	// Expression is "rate(1 minute)", "cron(0 9 ? * MON-FRI *)" or, for Scheduler alone, "at(2026-11-21T10:00:00)".
	Expression string
	// Timezone is the IANA name of the zone that cron and at are told in; a rule's is UTC.
	Timezone string
	// Start and End bound the times at which it fires; zero: unbounded.
	Start, End time.Time
	// FlexibleWindow is how much later than told it may fire, 0 for at once.
	FlexibleWindow time.Duration
	// Input is the JSON that the function gets; "": the service's own event.
	Input string
	// MaximumRetryAttempts (0 to 185) and MaximumEventAge (1 min to 24 h) bound the repetitions of an invocation that failed.
	MaximumRetryAttempts int
	MaximumEventAge      time.Duration
	// DeadLetterQueue is the Name of the queue that gets the event that could not be handed over, "" for none.
	DeadLetterQueue string
	// Async is that of the function: it counts once Lambda has taken the event.
	Async AsyncInvoke
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

// GenerateSecretString has the meaning of the CloudFormation property of this name.
type GenerateSecretString struct {
	Length                  int `cfn:"PasswordLength,default=32,min=1,max=4096"`
	ExcludeCharacters       string
	ExcludeLowercase        bool
	ExcludeUppercase        bool
	ExcludeNumbers          bool
	ExcludePunctuation      bool
	IncludeSpace            bool
	RequireEachIncludedType bool `cfn:",default=true"`
	// Template is a JSON object that gets the generated string under Key. Both are set, or neither is.
	Template string `cfn:"SecretStringTemplate"`
	Key      string `cfn:"GenerateStringKey"`
}

// Bucket is a bucket of S3 (AWS::S3::Bucket).
type Bucket struct {
	LogicalID, Name, ARN string
	CORS                 []CORSRule
	Lifecycle            []LifecycleRule
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

// LifecycleRule removes the objects, or the unfinished uploads, whose keys begin with Prefix. Days of 0 remove nothing.
type LifecycleRule struct {
	ID, Prefix                      string
	Enabled                         bool
	ExpirationDays, AbortUploadDays int
}

// Options say under which circumstances a template is resolved.
type Options struct {
	// StackName, Region and Account are the values of the pseudo parameters. Empty ones are "local", "us-east-1" and "000000000000".
	StackName, Region, Account string
	// Parameters are values for the template's parameters; the others have their defaults.
	Parameters map[string]string
	// Defaults replace the defaults of the template's parameters. Those that the template does not have are ignored.
	Defaults map[string]string
	// QueueEndpoint is what the URLs of queues begin with, such as http://127.0.0.1:4566; "" is that of SQS in Region.
	QueueEndpoint string
	// Overrides are variables of the platform's environment: each replaces the variable of the same name
	// in every function to which the template gives one.
	Overrides map[string]string
}
