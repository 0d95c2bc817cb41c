// Command webhook-delivery is the Lambda function of the fast lane: it receives messages from the queue of deliveries,
// and sends each delivery to its endpoint.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
