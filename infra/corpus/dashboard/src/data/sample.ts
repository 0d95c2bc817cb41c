export interface Order {
  id: string;
  customer: string;
  plan: "Starter" | "Team" | "Business";
  amount: number;
  status: "paid" | "pending" | "refunded";
  date: string;
}

export interface Customer {
  id: number;
  name: string;
  email: string;
  company: string;
  plan: Order["plan"];
  spent: number;
  since: string;
}

const people = [
  ["Ines Carvalho", "Orla Coffee"], ["Jonas Weber", "Weber & Sons"], ["Mai Nguyen", "Paper Crane"],
  ["Tobias Lind", "Norrsken Bikes"], ["Amara Obi", "Sunhouse"], ["Elif Demir", "Studio Elif"],
  ["Pedro Ruiz", "Ruiz Olive Oil"], ["Hannah Cole", "Cole Climbing"], ["Kenji Mori", "Mori Ceramics"],
  ["Lucie Petit", "Atelier Petit"], ["Sam Okafor", "Okafor Legal"], ["Freya Holm", "Holm Outdoor"],
] as const;
const plans: Order["plan"][] = ["Team", "Starter", "Business"];
const prices = { Starter: 29, Team: 119, Business: 480 };
const states: Order["status"][] = ["paid", "paid", "pending", "paid", "refunded"];

export const customers: Customer[] = people.map(([name, company], index) => {
  const plan = plans[index % 3];
  return {
    id: index + 1,
    name,
    company,
    email: `${name.split(" ")[0].toLowerCase()}@${company.toLowerCase().replace(/[^a-z]/g, "")}.example`,
    plan,
    spent: prices[plan] * (4 + ((index * 5) % 9)),
    since: `202${3 + (index % 3)}-0${1 + (index % 9)}-1${index % 10}`,
  };
});

export const orders: Order[] = Array.from({ length: 34 }, (_, index) => {
  const customer = customers[(index * 7) % customers.length];
  return {
    id: `TW-${2410 - index}`,
    customer: customer.name,
    plan: customer.plan,
    amount: prices[customer.plan] * (1 + (index % 3)),
    status: states[index % states.length],
    date: new Date(Date.UTC(2026, 9, 28 - index)).toISOString().slice(0, 10),
  };
});

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct"];
export const revenue = months.map((month, index) => ({
  month,
  revenue: 18200 + index * 1750 + Math.round(Math.sin(index * 1.3) * 2600),
  expenses: 12100 + index * 640 + Math.round(Math.cos(index) * 1100),
}));

export const channels = [
  { channel: "Search", visits: 4820 },
  { channel: "Direct", visits: 3910 },
  { channel: "Newsletter", visits: 2740 },
  { channel: "Partners", visits: 1620 },
  { channel: "Social", visits: 1180 },
];

export const goals = [
  { name: "New customers", value: 72, note: "36 of 50 this quarter" },
  { name: "Renewals", value: 91, note: "182 of 200 contracts" },
  { name: "Support answered in a day", value: 64, note: "Goal is 90 %" },
];
