// Command webhook-fanout is the Lambda function that reads the stream of events: it creates a delivery for each event
// and each webhook that subscribes to it.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
