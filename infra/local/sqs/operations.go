package sqs

// operations are those that run here, by the name behind the target's prefix.
var operations = map[string]operation{
	"CreateQueue":                  handle((*Store).createQueue),
	"DeleteQueue":                  handle((*Store).deleteQueue),
	"PurgeQueue":                   handle((*Store).purgeQueue),
	"GetQueueUrl":                  handle((*Store).getQueueURL),
	"ListQueues":                   handle((*Store).listQueues),
	"GetQueueAttributes":           handle((*Store).getQueueAttributes),
	"SetQueueAttributes":           handle((*Store).setQueueAttributes),
	"TagQueue":                     handle((*Store).tagQueue),
	"UntagQueue":                   handle((*Store).untagQueue),
	"ListQueueTags":                handle((*Store).listQueueTags),
	"SendMessage":                  handle((*Store).sendMessage),
	"SendMessageBatch":             handle((*Store).sendMessageBatch),
	"ReceiveMessage":               handle((*Store).receiveMessage),
	"DeleteMessage":                handle((*Store).deleteMessage),
	"DeleteMessageBatch":           handle((*Store).deleteMessageBatch),
	"ChangeMessageVisibility":      handle((*Store).changeVisibility),
	"ChangeMessageVisibilityBatch": handle((*Store).changeVisibilityBatch),
	"ListDeadLetterSourceQueues":   handle((*Store).listDeadLetterSourceQueues),
	"StartMessageMoveTask":         handle((*Store).startMoveTask),
	"ListMessageMoveTasks":         handle((*Store).listMoveTasks),
	"CancelMessageMoveTask":        handle((*Store).cancelMoveTask),
}

// unsupported are AWS's operations that do not run here; what is on neither list
// does not exist.
var unsupported = map[string]bool{"AddPermission": true, "RemovePermission": true}

func unknownOperation(name string) *apiError {
	if unsupported[name] {
		return refuse(typeUnsupported, "The operation %s is not supported by the embedded SQS", name)
	}
	return refuse(typeUnknownOperation, "The action %s is not valid for this web service.", name)
}
