// Command webhook-delivery is the Lambda function that receives the messages of the queue of deliveries and attempts
// them.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
