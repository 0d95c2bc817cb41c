// Command webhook-slow-delivery is the Lambda function of the slow lane: it receives messages from CreationsQueue and
// SlowDeliveriesQueue, creates deliveries, and sends them to endpoints that are new, slow or failing.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
