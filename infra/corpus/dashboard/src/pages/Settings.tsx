import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { z } from "zod";
import {
  AlertDialog,
  AlertDialogAction,
  AlertDialogCancel,
  AlertDialogContent,
  AlertDialogDescription,
  AlertDialogFooter,
  AlertDialogHeader,
  AlertDialogTitle,
  AlertDialogTrigger,
} from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { Form, FormControl, FormDescription, FormField, FormItem, FormLabel, FormMessage } from "@/components/ui/form";
import { Input } from "@/components/ui/input";
import { InputOTP, InputOTPGroup, InputOTPSlot } from "@/components/ui/input-otp";
import { Label } from "@/components/ui/label";
import { RadioGroup, RadioGroupItem } from "@/components/ui/radio-group";
import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from "@/components/ui/select";
import { Slider } from "@/components/ui/slider";
import { toast } from "@/components/ui/sonner";
import { Switch } from "@/components/ui/switch";

const schema = z.object({
  company: z.string().min(2, "A company has at least two letters."),
  email: z.string().email("This is not an e-mail address."),
  currency: z.enum(["USD", "EUR", "JPY"]),
  report: z.enum(["daily", "weekly", "never"]),
  alerts: z.boolean(),
  threshold: z.number().min(0).max(100),
});

const Settings = () => {
  const form = useForm<z.infer<typeof schema>>({
    resolver: zodResolver(schema),
    defaultValues: {
      company: "Tidewater Ltd",
      email: "rosa@tidewater.example",
      currency: "USD",
      report: "weekly",
      alerts: true,
      threshold: 20,
    },
  });

  return (
    <div className="mx-auto max-w-2xl space-y-6">
      <h1 className="page-title">Settings</h1>
      <Form {...form}>
        <form className="space-y-6" onSubmit={form.handleSubmit((values) => toast.success(`Saved for ${values.company}.`))}>
          <Card>
            <CardHeader>
              <CardTitle>Company</CardTitle>
              <CardDescription>What your customers see on receipts.</CardDescription>
            </CardHeader>
            <CardContent className="grid gap-5 sm:grid-cols-2">
              <FormField
                control={form.control}
                name="company"
                render={({ field }) => (
                  <FormItem>
                    <FormLabel>Name</FormLabel>
                    <FormControl>
                      <Input {...field} />
                    </FormControl>
                    <FormMessage />
                  </FormItem>
                )}
              />
              <FormField
                control={form.control}
                name="email"
                render={({ field }) => (
                  <FormItem>
                    <FormLabel>E-mail</FormLabel>
                    <FormControl>
                      <Input type="email" {...field} />
                    </FormControl>
                    <FormMessage />
                  </FormItem>
                )}
              />
              <FormField
                control={form.control}
                name="currency"
                render={({ field }) => (
                  <FormItem>
                    <FormLabel>Currency</FormLabel>
                    <Select onValueChange={field.onChange} defaultValue={field.value}>
                      <FormControl>
                        <SelectTrigger>
                          <SelectValue />
                        </SelectTrigger>
                      </FormControl>
                      <SelectContent>
                        <SelectItem value="USD">US dollar</SelectItem>
                        <SelectItem value="EUR">Euro</SelectItem>
                        <SelectItem value="JPY">Yen</SelectItem>
                      </SelectContent>
                    </Select>
                    <FormMessage />
                  </FormItem>
                )}
              />
            </CardContent>
          </Card>
          <Card>
            <CardHeader>
              <CardTitle>Reports and alerts</CardTitle>
            </CardHeader>
            <CardContent className="space-y-6">
              <FormField
                control={form.control}
                name="report"
                render={({ field }) => (
                  <FormItem>
                    <FormLabel>Send a report</FormLabel>
                    <RadioGroup onValueChange={field.onChange} defaultValue={field.value} className="flex gap-5">
                      {["daily", "weekly", "never"].map((value) => (
                        <Label key={value} className="flex items-center gap-2 font-normal capitalize">
                          <RadioGroupItem value={value} /> {value}
                        </Label>
                      ))}
                    </RadioGroup>
                  </FormItem>
                )}
              />
              <FormField
                control={form.control}
                name="alerts"
                render={({ field }) => (
                  <FormItem className="flex items-center justify-between gap-4 space-y-0">
                    <div className="space-y-1">
                      <FormLabel>Warn me when revenue falls</FormLabel>
                      <FormDescription>Compared with the week before.</FormDescription>
                    </div>
                    <FormControl>
                      <Switch checked={field.value} onCheckedChange={field.onChange} />
                    </FormControl>
                  </FormItem>
                )}
              />
              <FormField
                control={form.control}
                name="threshold"
                render={({ field }) => (
                  <FormItem>
                    <FormLabel>By more than {field.value} %</FormLabel>
                    <Slider
                      value={[field.value]}
                      max={100}
                      step={5}
                      disabled={!form.watch("alerts")}
                      onValueChange={([value]) => field.onChange(value)}
                    />
                  </FormItem>
                )}
              />
              <div className="space-y-2">
                <Label>Two-step code</Label>
                <InputOTP maxLength={6}>
                  <InputOTPGroup>
                    {[0, 1, 2, 3, 4, 5].map((index) => (
                      <InputOTPSlot key={index} index={index} />
                    ))}
                  </InputOTPGroup>
                </InputOTP>
              </div>
            </CardContent>
          </Card>
          <div className="flex flex-wrap justify-between gap-3">
            <AlertDialog>
              <AlertDialogTrigger asChild>
                <Button type="button" variant="ghost" className="text-destructive">
                  Delete workspace
                </Button>
              </AlertDialogTrigger>
              <AlertDialogContent>
                <AlertDialogHeader>
                  <AlertDialogTitle>Delete this workspace?</AlertDialogTitle>
                  <AlertDialogDescription>All orders and customers are lost. This cannot be undone.</AlertDialogDescription>
                </AlertDialogHeader>
                <AlertDialogFooter>
                  <AlertDialogCancel>Keep it</AlertDialogCancel>
                  <AlertDialogAction onClick={() => toast("This is sample data, so nothing was deleted.")}>Delete</AlertDialogAction>
                </AlertDialogFooter>
              </AlertDialogContent>
            </AlertDialog>
            <Button type="submit">Save changes</Button>
          </div>
        </form>
      </Form>
    </div>
  );
};

export default Settings;
